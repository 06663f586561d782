#pragma once

#include <stdexcept>

namespace simt {

/// What a kernel did that the device would punish or leave undefined. Says block, warp and lane,
/// the word and its place, what was expected and what came.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace simt
