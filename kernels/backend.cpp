#include "kernels/backend.h"

#include <algorithm>
#include <array>

#include "kernels/cpu/flash_attention.h"

namespace flashcheck {
namespace {

constexpr std::array kBackends = {
    Backend{.name = "cpu",
            .description = "flash attention in portable C++, on any number of threads",
            .unavailable = [] { return std::string_view(); },
            .run = cpu_flash_attention},
};

}  // namespace

std::span<const Backend> backends() { return kBackends; }

const Backend* find_backend(std::string_view name) {
  const auto found = std::ranges::find(kBackends, name, &Backend::name);
  return found == kBackends.end() ? nullptr : &*found;
}

}  // namespace flashcheck
