#pragma once

#include "kernels/attention_params.h"

namespace flashcheck {

/// Backend::run of "cpu": what the launch parameters mean. Faults of candle's device code are not
/// copied: windows, softcap, slopes and ranges hold at every head dim (candle drops them over 256,
/// and v3 ignores windows and slopes), rows past max_seqlen_q are computed too, and a scale may be
/// 0 or negative. Kept is what the parameters say: paged keys end where max_seqlen_k ends
/// (sequence_mask()).
///
/// Writes out and lse (unless null) of every row that a sequence covers, and nothing else; the
/// bytes do not depend on num_threads. The calling thread works too: with num_threads 1 none is
/// started. Throws std::bad_alloc or std::system_error if memory or threads are short.
void cpu_flash_attention(const AttentionParams& params, int num_threads);

}  // namespace flashcheck
