#include "tests/simt/async_copies.h"

#include <cstring>
#include <numeric>

namespace simt {

void AsyncCopies::start(std::byte* shared, const Chunk& chunk, bool arrives_at_once) {
  if (arrives_at_once) std::memcpy(shared, chunk.data(), chunk.size());
  copies_.push_back({arrives_at_once ? nullptr : shared, chunk});
  ++uncommitted_;
}

void AsyncCopies::commit() {
  groups_.push_back(uncommitted_);
  uncommitted_ = 0;
}

void AsyncCopies::wait(int pending) {
  const auto kept = static_cast<std::size_t>(pending);
  if (groups_.size() <= kept) return;
  const auto last = groups_.end() - pending;
  const std::size_t num_covered = std::accumulate(groups_.begin(), last, std::size_t{0});
  const auto end = copies_.begin() + static_cast<std::ptrdiff_t>(num_covered);
  for (auto copy = copies_.begin(); copy != end; ++copy) {
    if (copy->shared != nullptr) std::memcpy(copy->shared, copy->chunk.data(), copy->chunk.size());
  }
  copies_.erase(copies_.begin(), end);
  groups_.erase(groups_.begin(), last);
}

void AsyncCopies::forget() {
  copies_.clear();
  groups_.clear();
  uncommitted_ = 0;
}

}  // namespace simt
