"""Calls of PyTorch's scaled_dot_product_attention and flex_attention on the CPU.

Tensors are flashcheck's: [batch, tokens, heads, dim] or, varlen, [tokens, heads, dim].
"""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import flex_attention

from .case_file import MISMATCH, OK, out_of, write_case
from .case_from_torch import case_from_torch

FLASH, MATH = SDPBackend.FLASH_ATTENTION, SDPBackend.MATH
F16, BF16, F32 = torch.float16, torch.bfloat16, torch.float32
KERNEL = {FLASH: "flash kernel", MATH: "math path"}


def normal(seed, shape, dtype, std=1.0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator) * std).to(dtype)


def inputs(seed, dtype, batch, seqlen_q, seqlen_k, heads, heads_k, dim, std=1.0):
    shapes = ((seqlen_q, heads), (seqlen_k, heads_k), (seqlen_k, heads_k))
    return [normal(seed + n, (batch, tokens, h, dim), dtype, std if n == 0 else 1.0)
            for n, (tokens, h) in enumerate(shapes)]


def distances(seqlen_q, seqlen_k):
    """Key position minus query position, aligned at the bottom right."""
    return torch.arange(seqlen_k)[None] - torch.arange(seqlen_k - seqlen_q, seqlen_k)[:, None]


def window(seqlen_q, seqlen_k, left, right):
    distance = distances(seqlen_q, seqlen_k)
    return (distance >= -left) & (distance <= right)


def causal(seqlen_q, seqlen_k):
    return window(seqlen_q, seqlen_k, seqlen_k, 0)


def sdpa(q, k, v, backend=FLASH, mask=None, **options):
    with sdpa_kernel(backend):
        out = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)),
                                             attn_mask=mask, **options)
    return out.transpose(1, 2).contiguous()


def cumulative(lengths):
    return torch.tensor([0, *np.cumsum(lengths)], dtype=torch.uint32)


def write(folder, name, note, function, tensors, args, *, outs=None, tests=(), arithmetic=None,
          wrapper="candle-flash-attn", expect=OK):
    """`outs`: further entries of the file that a test may have judged instead of `out`."""
    case = case_from_torch(folder / name, function, tensors | (outs or {}), args, wrapper, "cuda:0")
    for entry in outs or {}:
        del case["tensors"][entry]
    write_case(folder / f"{name}.json", case | {
        "note": note, "arithmetic": arithmetic, "expect": expect, "tests": list(tests)})


def test(id, note, change, expect=MISMATCH):
    return {"id": id, "note": note, "change": change, "expect": expect}


def dense_f32(folder):
    q, k, v = inputs(100, F32, 2, 9, 24, 2, 2, 64)
    out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        *(t.transpose(1, 2) for t in (q, k, v)))
    assert torch.equal(out.transpose(1, 2), sdpa(q, k, v))
    write(folder, "torch-f32-full", "PyTorch's flash kernel in f32 with its log-sum-exp; the scale "
          "is the default.", "flash_attn",
          {"q": q, "k": k, "v": v, "out": sdpa(q, k, v), "lse": lse.contiguous()},
          {"softmax_scale": 64**-0.5, "causal": False}, wrapper="none")

    q, k, v = inputs(110, F32, 1, 8, 40, 4, 2, 64)
    write(folder, "torch-f32-topleft", "A mask aligned at the bottom right, given explicitly: "
          "is_causal=True aligns it at the top left.", "flash_attn",
          {"q": q, "k": k, "v": v, "out": sdpa(q, k, v, mask=causal(8, 40), enable_gqa=True)},
          {"softmax_scale": 64**-0.5, "causal": True}, wrapper="none",
          outs={"out_is_causal": sdpa(q, k, v, is_causal=True, enable_gqa=True)},
          tests=[test("is-causal", "What is_causal=True makes of 8 queries and 40 keys.",
                      out_of("out_is_causal"))])

    q, k, v = inputs(120, F32, 1, 12, 5, 2, 2, 64)
    write(folder, "torch-f32-more-queries", "The first 7 of 12 queries see none of 5 keys: PyTorch "
          "gives 0 for them, as candle does.", "flash_attn",
          {"q": q, "k": k, "v": v, "out": sdpa(q, k, v, mask=causal(12, 5))},
          {"softmax_scale": 64**-0.5, "causal": True}, wrapper="none")


def dense_half(folder):
    q, k, v = inputs(200, F16, 2, 20, 20, 3, 3, 80)
    args = {"softmax_scale": 80**-0.5, "causal": True}
    write(folder, "torch-f16-is-causal", "As many queries as keys: here is_causal=True agrees with "
          "candle's causal. 80 dims.", "flash_attn",
          {"q": q, "k": k, "v": v, "out": sdpa(q, k, v, is_causal=True)}, args,
          outs={"out_scale_of_96": sdpa(q, k, v, is_causal=True, scale=96**-0.5)},
          tests=[test("scale-of-96", "The scale of a head dim padded from 80 to 96.",
                      out_of("out_scale_of_96"))])

    q, k, v = inputs(210, F16, 1, 10, 70, 8, 2, 64)
    expanded = [t.repeat_interleave(4, dim=2) for t in (k, v)]
    tiled = [t.repeat(1, 1, 4, 1) for t in (k, v)]
    write(folder, "torch-f16-gqa-expanded", "Grouped heads, the keys and values expanded with "
          "repeat_interleave; scale 0.2.", "flash_attn",
          {"q": q, "k": k, "v": v, "out": sdpa(q, *expanded, mask=causal(10, 70), scale=0.2)},
          {"softmax_scale": 0.2, "causal": True},
          outs={"out_repeat": sdpa(q, *tiled, mask=causal(10, 70), scale=0.2)},
          tests=[test("repeat", "Expanded with repeat: q head h reads head h % 2, not h / 4.",
                      out_of("out_repeat"))])

    q, k, v = inputs(220, BF16, 1, 7, 50, 6, 2, 128)
    write(folder, "torch-bf16-enable-gqa", "Grouped heads by enable_gqa=True; 128 dims.",
          "flash_attn",
          {"q": q, "k": k, "v": v, "out": sdpa(q, k, v, mask=causal(7, 50), enable_gqa=True)},
          {"softmax_scale": 128**-0.5, "causal": True})

    q, k, v = inputs(230, BF16, 2, 1, 130, 8, 1, 64)
    write(folder, "torch-bf16-decode-mqa", "One query a sequence, one key head.", "flash_attn",
          {"q": q, "k": k, "v": v, "out": sdpa(q, k, v, enable_gqa=True)},
          {"softmax_scale": 64**-0.5, "causal": True})

    qkv = normal(240, (1, 24, 3, 4, 64), BF16)
    q, k, v = qkv.unbind(2)
    write(folder, "torch-bf16-fused-qkv", "q, k and v are views of one fused projection.",
          "flash_attn", {"q": q, "k": k, "v": v, "out": sdpa(q, k, v, is_causal=True)},
          {"softmax_scale": 64**-0.5, "causal": True})


def windows_and_biases(folder):
    q, k, v = inputs(300, F16, 1, 24, 60, 4, 2, 64)
    args = {"softmax_scale": 0.125, "window_size_left": 16, "window_size_right": 0}
    write(folder, "torch-f16-window", "16 keys before the aligned one, and itself.",
          "flash_attn_windowed",
          {"q": q, "k": k, "v": v,
           "out": sdpa(q, k, v, mask=window(24, 60, 16, 0), enable_gqa=True)}, args,
          outs={"out_17": sdpa(q, k, v, mask=window(24, 60, 17, 0), enable_gqa=True),
                "out_15": sdpa(q, k, v, mask=window(24, 60, 15, 0), enable_gqa=True)},
          tests=[test("one-too-wide", "Made with 17 keys before.", out_of("out_17")),
                 test("one-too-narrow", "Made with 15 keys before.", out_of("out_15"))])

    q, k, v = inputs(310, BF16, 1, 30, 30, 2, 2, 64)
    write(folder, "torch-bf16-window-both", "A window of 8 keys before and 3 after.",
          "flash_attn_windowed",
          {"q": q, "k": k, "v": v, "out": sdpa(q, k, v, mask=window(30, 30, 8, 3))},
          {"softmax_scale": 0.125, "window_size_left": 8, "window_size_right": 3})

    q, k, v = inputs(320, F16, 1, 16, 33, 4, 4, 64)
    slopes = torch.tensor([2.0**-n for n in (2, 4, 6, 8)])
    bias = (-slopes[:, None, None] * distances(16, 33).abs()).masked_fill(
        ~causal(16, 33), -math.inf)[None]
    write(folder, "torch-f16-alibi", "A bias of -slope * distance as a float mask, causal.",
          "flash_attn_alibi",
          {"q": q, "k": k, "v": v, "alibi_slopes": slopes, "out": sdpa(q, k, v, mask=bias)},
          {"softmax_scale": 0.125, "causal": True},
          outs={"out_no_bias": sdpa(q, k, v, mask=causal(16, 33))},
          tests=[test("bias-dropped", "Computed without the bias.", out_of("out_no_bias"))])

    q, k, v = inputs(330, F16, 1, 12, 40, 4, 2, 128, std=3.0)

    def capped(score, batch, head, i, j):
        score = 20 * torch.tanh(score / 20)
        return torch.where(j <= i + 28, score, -math.inf)

    with torch.no_grad():
        out = flex_attention(*(t.transpose(1, 2) for t in (q, k, v)), score_mod=capped,
                             scale=0.5, enable_gqa=True).transpose(1, 2).contiguous()
    write(folder, "torch-f16-softcap", "flex_attention, not compiled, with a softcap of 20 under "
          "large scores; scale 0.5.", "flash_attn_alibi_windowed_softcap",
          {"q": q, "k": k, "v": v, "out": out},
          {"softmax_scale": 0.5, "window_size_left": None, "window_size_right": 0, "softcap": 20.0},
          outs={"out_uncapped": sdpa(q, k, v, mask=causal(12, 40), scale=0.5, enable_gqa=True)},
          tests=[test("softcap-dropped", "Computed without the softcap.", out_of("out_uncapped"))])


def arithmetics(folder):
    """Where PyTorch's two paths round: what each declares, and what a wrong declaration shows."""
    q, k, v = inputs(400, BF16, 1, 16, 64, 2, 2, 64)
    args = {"softmax_scale": 0.125, "causal": False}
    p_f32 = {"arithmetic": {"p": "f32"}}
    write(folder, "torch-bf16-p-rounded", "The flash kernel rounds P to bf16 before P.V, as the "
          "default arithmetic allows.", "flash_attn",
          {"q": q, "k": k, "v": v, "out": sdpa(q, k, v)}, args,
          tests=[test("declared-unrounded", "Rounds more than the declared arithmetic does.",
                      p_f32)])
    write(folder, "torch-bf16-p-unrounded", "The math path computes in f32 throughout and rounds "
          "only its output.", "flash_attn", {"q": q, "k": k, "v": v, "out": sdpa(q, k, v, MATH)},
          args, tests=[test("declared-unrounded", "Fits the stricter arithmetic too.", p_f32, OK)])

    q, k, v = inputs(410, BF16, 1, 16, 64, 2, 2, 64, std=3.0)
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)
    reduced = sdpa(q, k, v, MATH)
    torch.backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)
    write(folder, "torch-bf16-scores-rounded", "Large scores, computed with f32 scores.",
          "flash_attn", {"q": q, "k": k, "v": v, "out": sdpa(q, k, v)}, args,
          outs={"out_reduced": reduced},
          tests=[test("reduced-math", "The math path with allow_fp16_bf16_reduction_math_sdp: "
                      "scores are rounded to bf16 between the steps.", out_of("out_reduced"))])


def varlen(folder):
    lengths_q, lengths_k = (5, 1, 18), (21, 37, 18)
    tokens_q, tokens_k = sum(lengths_q), sum(lengths_k)
    q = normal(500, (tokens_q, 4, 64), F16)
    k, v = (normal(seed, (tokens_k, 2, 64), F16) for seed in (501, 502))
    parts = zip(q.split(lengths_q), k.split(lengths_k), v.split(lengths_k))
    out = torch.cat([
        sdpa(*(t[None] for t in part), mask=causal(len(part[0]), len(part[1])), scale=0.15,
             enable_gqa=True)[0] for part in parts])
    write(folder, "torch-f16-varlen", "Three sequences computed one by one; the second is a "
          "decode.", "flash_attn_varlen",
          {"q": q, "k": k, "v": v, "seqlens_q": cumulative(lengths_q),
           "seqlens_k": cumulative(lengths_k), "out": out},
          {"max_seqlen_q": 18, "max_seqlen_k": 37, "softmax_scale": 0.15, "causal": True})


def paged(folder):
    """The cache is filled through a shuffled block table and read back through it."""
    lengths_q, lengths_k, page, heads_k, dim = (3, 1, 9), (40, 64, 9), 32, 2, 64
    table = torch.tensor([[4, 1], [0, 6], [3, 5]], dtype=torch.uint32)
    q = normal(600, (sum(lengths_q), 4, dim), BF16)
    cache = normal(601, (7, 2, page, heads_k, dim), BF16, std=4.0)  # stale: pages hold old tokens
    for row, length, seed in zip(table.tolist(), lengths_k, (602, 603, 604)):
        tokens = normal(seed, (length, 2, heads_k, dim), BF16)
        for at in range(length):
            cache[row[at // page], :, at % page] = tokens[at]
    k, v = cache[:, 0], cache[:, 1]

    def attend(tables, lengths):
        outs = []
        for queries, row, length in zip(q.split(lengths_q), tables, lengths):
            keys, values = (torch.cat([t[n] for n in row])[None, :length] for t in (k, v))
            outs.append(sdpa(queries[None], keys, values, mask=causal(len(queries), length),
                             enable_gqa=True)[0])
        return torch.cat(outs)

    rows = table.tolist()
    write(folder, "torch-bf16-paged", "Pages of 32 in a shuffled order, K and V interleaved in one "
          "cache, the last pages partly filled over stale tokens.",
          "flash_attn_varlen_paged_windowed",
          {"q": q, "k": k, "v": v, "seqlens_q": cumulative(lengths_q),
           "seqlens_k": cumulative(lengths_k), "block_table": table,
           "out": attend(rows, lengths_k)},
          {"max_seqlen_q": 9, "max_seqlen_k": 64, "softmax_scale": dim**-0.5,
           "window_size_left": None, "window_size_right": 0, "page_block_size": page,
           "softcap": None},
          outs={"out_in_order": attend([[0, 1], [2, 3], [4, 5]], lengths_k),
                "out_swapped": attend([row[::-1] for row in rows], lengths_k),
                "out_stale_key": attend(rows, (41, 64, 10))},
          tests=[test("table-ignored", "Pages read in order, as if there were no block table.",
                      out_of("out_in_order")),
                 test("table-reversed", "Each sequence's pages read in reverse.",
                      out_of("out_swapped")),
                 test("one-key-too-many", "Two sequences one stale key too long.",
                      out_of("out_stale_key"))])


def npy(folder):
    q, k, v = inputs(700, F16, 1, 6, 30, 2, 1, 64)
    tensors = {"q": q, "k": k, "v": v, "out": sdpa(q, k, v, mask=causal(6, 30), enable_gqa=True)}
    specs = {}
    for name, tensor in tensors.items():
        np.save(folder / f"torch-f16-npy-{name}.npy", tensor.numpy())
        specs[name] = {"dtype": "f16", "shape": list(tensor.shape),
                       "file": f"torch-f16-npy-{name}.npy"}
    write_case(folder / "torch-f16-npy.json", {
        "note": "One NumPy file a tensor.", "wrapper": "candle-flash-attn",
        "function": "flash_attn", "tensors": specs,
        "args": {"softmax_scale": 64**-0.5, "causal": True}, "expect": OK})


def versions():
    return f"torch {torch.__version__} ({torch.backends.cpu.get_cpu_capability()})"


def make(folder):
    torch.set_num_threads(1)  # a split over threads could change the order of sums
    for dump in (dense_f32, dense_half, windows_and_biases, arithmetics, varlen, paged, npy):
        dump(folder)
