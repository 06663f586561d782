#pragma once

namespace flashcheck {

/// The project's version (CMakeLists.txt), and the revision of candle whose wrappers it knows.
inline constexpr const char* kVersion = FLASHCHECK_VERSION;
inline constexpr const char* kCandleRevision = "2a13b0f3";

}  // namespace flashcheck
