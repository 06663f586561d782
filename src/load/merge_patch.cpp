#include "src/load/merge_patch.h"

#include <algorithm>
#include <vector>

namespace flashcheck {

const JsonValue* merge_patch(const JsonValue* target, const JsonValue& patch,
                             std::pmr::memory_resource& arena) {
  if (!patch.is_object()) return &patch;
  std::vector<const JsonValue*> members;
  if (target && target->is_object()) {
    for (const JsonValue* member : target->children) {
      const JsonValue* change = patch.find(member->key);
      if (!change) {
        members.push_back(member);
      } else if (!change->is_null()) {
        members.push_back(merge_patch(member, *change, arena));
      }
    }
  }
  for (const JsonValue* change : patch.children) {
    const bool is_new = !(target && target->find(change->key));
    if (is_new && !change->is_null()) members.push_back(merge_patch(nullptr, *change, arena));
  }

  auto* merged = new (arena.allocate(sizeof(JsonValue), alignof(JsonValue))) JsonValue(patch);
  auto* kept = static_cast<const JsonValue**>(
      arena.allocate(members.size() * sizeof(const JsonValue*), alignof(const JsonValue*)));
  std::copy(members.begin(), members.end(), kept);
  merged->children = {kept, members.size()};
  return merged;
}

}  // namespace flashcheck
