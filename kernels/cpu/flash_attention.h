#pragma once

#include "kernels/attention_params.h"

namespace flashcheck {

/// Backend::run of "cpu". Writes out and lse (unless null) of every row that a sequence covers, and
/// nothing else; the bytes do not depend on num_threads. The calling thread works too: with
/// num_threads 1 none is started. Throws std::bad_alloc or std::system_error if memory or threads
/// are short.
void cpu_flash_attention(const AttentionParams& params, int num_threads);

}  // namespace flashcheck
