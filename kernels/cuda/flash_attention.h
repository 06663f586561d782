#pragma once

#include <string>

#include "kernels/attention_params.h"
#include "kernels/backend.h"

namespace flashcheck {

/// Why the kernel cannot run on this device: no driver, no such device, one that is too old; empty
/// if it can. Never throws: a machine without a driver is asked too.
std::string cuda_unavailable(int device);

/// Why the kernel cannot run this launch, whose pointers are those of the host: a dtype or a head
/// dim that it has no instance for; empty if it can.
std::string cuda_refusal(const AttentionParams& params);

/// Backend::run of "cuda": what the launch parameters mean, as the CPU kernel understands them
/// (kernels/cpu/flash_attention.h). Copies every region to the device, whole, translates the
/// pointers, runs, and copies the written regions back with their guards, so that a stray write on
/// the device shows on the host. Waits until all is done and frees what it took. Throws
/// std::runtime_error that names the call, file, line and CUDA's text if one fails, std::bad_alloc
/// if the device has too little memory. Preconditions: cuda_unavailable() and cuda_refusal() are
/// empty, and every pointer is inside a region or null.
void cuda_flash_attention(const AttentionParams& params, const Execution& execution);

}  // namespace flashcheck
