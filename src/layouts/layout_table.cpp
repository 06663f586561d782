#include <array>

#include "src/layouts/layout.h"

namespace flashcheck {

// A layout is a line: all that is known of it follows from the order of its axes.
std::span<const Layout> layouts() {
  static constexpr auto kLayouts = std::to_array<Layout>({
      {"fa-nhd", "FlashAttention 2 to 4", "BNHD", "BNHD",
       "Pools of (NB, P, H, D); PyTorch's varlen_attn has the same."},
      {"fa-dense", "FlashAttention 2 and 3", "bsHD", "bsHD",
       "A cache without pages, (B, S, H, D)."},

      {"vllm-kv-first-nhd", "vLLM V1, first form", "2BNHD", "2BNHD",
       "Declared (2, NB, P, H, D), k and v by unbind(0)."},
      {"vllm-kv-first-hnd", "vLLM V1, first form", "2BHND", "2BHND",
       "Declared (2, NB, P, H, D), laid out in the stride order (0, 1, 3, 2, 4)."},
      {"vllm-blocks-first-nhd", "vLLM V1, PR #42095", "B2NHD", "B2NHD",
       "Declared (NB, 2, P, H, D), k and v by unbind(1): pages are twice a page apart."},
      {"vllm-blocks-first-hnd", "vLLM V1, PR #42095", "B2HND", "B2HND",
       "Declared (NB, 2, P, H, D), heads outside tokens in memory."},
      {"vllm-packed", "vLLM V1, PR #44455", "LBNH2D", "LBNH2D",
       "Declared (NB, H, P, 2D), a head's k and v side by side; in memory (NB, P, H, 2D)."},
      {"vllm-lbnhc", "vLLM, PR #51718", "LBNH2D", "LBNH2D",
       "C is 2D, k's dims and then v's; the default order, NHD."},
      {"vllm-lbhnc", "vLLM, PR #51718", "LBHN2D", "LBHN2D", "C is 2D; the order HND."},
      {"vllm-lhbnc", "vLLM, PR #51718", "LHBN2D", "LHBN2D",
       "C is 2D; all pages of a head lie together."},
      {"vllm-blhnc", "vLLM, PR #51718", "BLHN2D", "BLHN2D",
       "C is 2D; a page holds every layer, heads outside tokens."},
      {"vllm-blnhc", "vLLM, PR #51718", "BLNH2D", "BLNH2D",
       "C is 2D; a page holds every layer, tokens outside heads."},
      {"vllm-bhlnc", "vLLM, PR #51718", "BHLN2D", "BHLN2D",
       "C is 2D; a page holds every head, and a head every layer."},
      {"vllm-cross-layer", "vLLM, cross-layer", "BL2NHD", "BL2NHD",
       "Declared (NB, L, 2, P, H, D): one tensor for all layers."},
      {"vllm-x-split", "vLLM V0, ROCm", "BHdNx", "BHDN",
       "x is 16 bytes of elements: 8 of f16 and bf16, 4 of f32, 16 of f8e4m3."},
      {"vllm-cpu-vec", "vLLM CPU, VEC", "BHDN", "BHND",
       "Declared (NB, H, P, D); the strides that k declares are not those it has."},

      {"flashinfer-nhd", "FlashInfer", "BNHD", "BNHD",
       "A pair of (NB, P, H, D). Page tables are CSR: `from` in a case's block_table."},
      {"flashinfer-hnd", "FlashInfer", "BHND", "BHND",
       "A pair of (NB, H, P, D), also of its trtllm-gen and cuDNN backends."},
      {"flashinfer-nhd-5d", "FlashInfer", "B2NHD", "B2NHD",
       "One (NB, 2, P, H, D); (NB, 2, H, D) is that with pages of 1."},
      {"flashinfer-hnd-5d", "FlashInfer", "B2HND", "B2HND", "One (NB, 2, H, P, D)."},

      {"sglang-token-pool", "SGLang", "pNHD", "pNHD",
       "k_buffer[layer] is (NS, H, D), slot 0 a dummy; pages are P slots side by side. Its "
       "req_to_token: `from` in a case's block_table."},
      {"aiter-vectorized-5d", "SGLang, AITER", "BHdNx", "BHtDy",
       "x is 16 bytes of elements; v splits its tokens, not its dims."},

      {"trtllm-pool", "TensorRT-LLM", "BL2HND", "BL2HND",
       "The pool (NB, L, 2, H*P*D). TensorRT-LLM has index rows of their own for k and v: they "
       "must "
       "differ by a constant alone."},

      {"mistralrs-hnd", "mistral.rs", "BHND", "BHND", "FlashInferHnd: a pair of (NB, H, P, D)."},
      {"mistralrs-standard", "mistral.rs", "BHdNx", "BHDN",
       "x is 8 of f16 and bf16, 4 of f32, 16 of f8e4m3."},

      {"llama-cpp", "llama.cpp, flash attention", "ucHD", "ucHD",
       "Streams of [D*H, S] in ggml's order, which begins with the innermost; f32, f16 and bf16."},
      {"llama-cpp-v-trans", "llama.cpp, without", "ucHD", "uHDc",
       "Without flash attention v is kept transposed, tokens innermost."},

      {"mla-latent", "FlashMLA, vLLM, SGLang", "BN1M", "BN1M",
       "(NB, P, R+E): v is the first R of k's row. Two tensors, (NB, P, R) and (NB, P, E), are no "
       "one view."},
  });
  return kLayouts;
}

}  // namespace flashcheck
