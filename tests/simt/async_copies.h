#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

/// The cp.async copies that one lane has under way. Their bytes arrive late: when a wait covers
/// their group.
class AsyncCopies {
 public:
  using Chunk = std::array<std::byte, 16>;

  /// Of the group that the next commit makes. A copy that has arrived is still to be waited for.
  void start(std::byte* shared, const Chunk& chunk, bool arrives_at_once);
  void commit();
  /// Until at most the `pending` last groups are under way.
  void wait(int pending);

  bool all_waited_for() const { return copies_.empty(); }
  void forget();

 private:
  struct Copy {
    std::byte* shared;  // null: has arrived
    Chunk chunk;
  };
  std::vector<Copy> copies_;         // that no wait has covered, oldest first
  std::vector<std::size_t> groups_;  // copies in each committed group, oldest first
  std::size_t uncommitted_ = 0;
};

}  // namespace simt
