#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/spec/case.h"

namespace flashcheck {

/// What a function takes the dims of a tensor to be, outermost first, in the words of `axes`. Empty
/// for tensors of one dim, in which there is nothing to exchange.
std::vector<std::string> axes_taken(const WrapperFunction& function, TensorName name);

/// The declared axes in the words of `taken`: "sequence" may stand for rows, for entries of a batch
/// and for rows of a table.
std::vector<std::string> in_words_of(const std::vector<std::string>& taken,
                                     std::vector<std::string> declared);

/// For each axis that is taken, the declared dim that holds it; nothing unless the two hold the
/// same axes.
std::optional<std::vector<size_t>> permutation_to(const std::vector<std::string>& taken,
                                                  const std::vector<std::string>& declared);

/// The dims that a permutation moves, ascending. Two: they are swapped.
std::vector<size_t> moved_dims(const std::vector<size_t>& permutation);

/// "k.transpose(1, 2)?", or "k.permute((0, 3, 1, 2))?".
std::string reordering_call(TensorName name, const std::vector<size_t>& permutation);

/// The dims, or strides, of the reordered view.
std::vector<int64_t> reordered(const std::vector<int64_t>& dims,
                               const std::vector<size_t>& permutation);

}  // namespace flashcheck
