#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "reference/reference.h"
#include "src/spec/attention_problem.h"
#include "src/spec/random_bits.h"
#include "src/spec/tensor.h"

namespace flashcheck::testing {

/// A stream of random numbers that a test can print the seed of.
class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}
  uint64_t bits() { return random_bits(seed_, n_++); }
  /// In [low, high].
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(bits() % static_cast<uint64_t>(high - low + 1));
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
  double normal();
  bool one_in(int64_t n) { return integer(1, n) == 1; }

 private:
  uint64_t seed_, n_ = 0;
};

/// A problem with its elements: q, k and v in storages 0, 1 and 2, or k and v both in 1.
struct TestProblem {
  AttentionProblem problem;
  Inputs inputs;
  DataStorages storages{0, 1, 2};

  Reference reference() const {
    return reference_attention(problem, inputs, storages, choose_rows(problem, INT64_MAX, 0));
  }
};

enum class Layout { kFixed, kVarlen, kPaged };

/// What a test wants of a problem; the layout is packed where nothing else is said.
struct Wanted {
  Dtype dtype = Dtype::kF16;
  Layout layout = Layout::kVarlen;
  int64_t num_heads = 2, num_heads_k = 1, head_dim = 8;
  std::vector<std::pair<int64_t, int64_t>> lengths{{3, 5}};  // (seqlen_q, seqlen_k) a sequence
  int64_t page_block_size = 4;
  bool shuffles_pages = true;
  bool interleaves_kv = false;  // K and V in one storage, row by row
  int64_t row_padding = 0;      // elements between rows, NaN
  double q_std = 1, k_std = 1, v_std = 1;
};

/// Lays the tensors out and fills them with N(0, std), rounded to the dtype; everything that no
/// element of the problem covers holds NaN.
TestProblem make_problem(const Wanted& wanted, uint64_t seed);

/// A small problem of any kind: layout, dtype, lengths, mask, cap, bias.
TestProblem random_problem(uint64_t seed);

/// Where the elements of row j (of a sequence and head) of k or v start.
int64_t kv_address(const AttentionProblem& problem, const Rows& rows, int64_t sequence, int64_t j,
                   int64_t head_k);
int64_t q_address(const AttentionProblem& problem, int64_t sequence, int64_t i, int64_t head);

}  // namespace flashcheck::testing
