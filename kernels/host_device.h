#pragma once

/// Marks what a CPU and a CUDA kernel share.
#ifdef __CUDACC__
#define FLASHCHECK_HOST_DEVICE __host__ __device__
#else
#define FLASHCHECK_HOST_DEVICE
#endif
