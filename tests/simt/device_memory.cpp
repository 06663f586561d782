#include "tests/simt/device_memory.h"

#include <functional>
#include <map>
#include <memory>
#include <new>
#include <string>

#include "tests/simt/error.h"
#include "tests/simt/guarded_memory.h"

namespace simt {
namespace {

using Allocations =
    std::map<const std::byte*, std::unique_ptr<GuardedMemory>, std::greater<const std::byte*>>;

Allocations& allocations() {
  thread_local Allocations of_this_thread;
  return of_this_thread;
}

}  // namespace

constinit thread_local MappedBytes* MappedBytes::newest_ = nullptr;

MappedBytes::MappedBytes(const void* begin, std::size_t bytes)
    : begin_(static_cast<const std::byte*>(begin)), bytes_(bytes), older_(newest_) {
  newest_ = this;
}

MappedBytes::~MappedBytes() {
  MappedBytes** link = &newest_;
  while (*link != this) link = &(*link)->older_;
  *link = older_;
}

bool MappedBytes::contain(const std::byte* first, std::size_t bytes) {
  for (const MappedBytes* mapping = newest_; mapping != nullptr; mapping = mapping->older_) {
    if (std::greater_equal<>()(first, mapping->begin_) &&
        std::less_equal<>()(first + bytes, mapping->begin_ + mapping->bytes_)) {
      return true;
    }
  }
  return false;
}

void* allocate_on_device(std::size_t bytes) {
  try {
    auto memory = std::make_unique<GuardedMemory>(bytes);
    std::byte* const begin = memory->begin();
    allocations().emplace(begin, std::move(memory));
    return begin;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool free_on_device(void* pointer) {
  return pointer == nullptr || allocations().erase(static_cast<const std::byte*>(pointer)) > 0;
}

bool is_on_device(const void* begin, std::size_t bytes) {
  const auto* first = static_cast<const std::byte*>(begin);
  const auto at_or_before = allocations().lower_bound(first);
  if (at_or_before != allocations().end() && at_or_before->second->contains(first, bytes)) {
    return true;
  }
  return MappedBytes::contain(first, bytes);
}

void check_device_memory() {
  for (const auto& [begin, memory] : allocations()) {
    if (const auto offset = memory->stray_write()) {
      throw Error("a thread wrote byte " + std::to_string(*offset) + " of an allocation of " +
                  std::to_string(memory->bytes()) + " bytes");
    }
  }
}

}  // namespace simt
