"""Attention written with candle's own tensors, as its models do without flash-attn, through candle's
Python bindings (the package candle-nn), saved by candle's own safetensors writer."""

import importlib.metadata

import candle
import candle.functional
import numpy as np
from candle.utils import save_safetensors

from .case_file import MISMATCH, OK, out_of, spec_of, write_case

HIDDEN = -1e30


def tensor_of(array):
    return candle.Tensor(array.ravel().tolist()).to_dtype(candle.f32).reshape(array.shape)


def inputs(seed, seqlen_q, seqlen_k, heads, heads_k, dim, std=1.0):
    generator = np.random.default_rng(seed)
    shapes = ((seqlen_q, heads), (seqlen_k, heads_k), (seqlen_k, heads_k))
    return [tensor_of(generator.standard_normal((1, tokens, h, dim)) * (std if n == 0 else 1))
            for n, (tokens, h) in enumerate(shapes)]


def attend(q, k, v, scale, dtype):
    """matmul, softmax, matmul, each in `dtype`; causal, aligned at the bottom right."""
    out_dtype, (_, seqlen_q, heads, dim), (_, seqlen_k, heads_k, _) = q.dtype, q.shape, k.shape
    q, k, v = (t.to_dtype(dtype).transpose(1, 2).contiguous() for t in (q, k, v))
    group = (1, heads_k, heads // heads_k, seqlen_k, dim)
    k, v = (t.unsqueeze(2).broadcast_as(group).reshape((1, heads, seqlen_k, dim)) for t in (k, v))
    distance = np.arange(seqlen_k)[None] - np.arange(seqlen_k - seqlen_q, seqlen_k)[:, None]
    bias = tensor_of(np.where(distance <= 0, 0.0, HIDDEN)).to_dtype(dtype)
    scores = (q.matmul(k.transpose(2, 3)) * scale).broadcast_add(bias)
    weights = candle.functional.softmax(scores, 3)
    return weights.matmul(v).transpose(1, 2).contiguous().to_dtype(out_dtype)


class Described:
    """What spec_of reads, of a candle tensor."""

    def __init__(self, tensor):
        self.shape, self.dtype = tensor.shape, tensor.dtype


def write(folder, name, note, tensors, args, *, wrapper, outs=None, tests=()):
    file = f"{name}.safetensors"
    save_safetensors(str(folder / file), tensors | (outs or {}))
    write_case(folder / f"{name}.json", {
        "note": note, "wrapper": wrapper, "function": "flash_attn",
        "tensors": {entry: spec_of(Described(t), file, entry) for entry, t in tensors.items()},
        "args": args, "expect": OK, "tests": list(tests)})


def versions():
    return f"candle {importlib.metadata.version('candle-nn')}"


def make(folder):
    q, k, v = inputs(1, 7, 30, 4, 2, 64)
    args = {"softmax_scale": 0.125, "causal": True}
    write(folder, "candle-f32-naive", "candle's matmul and softmax in f32, keys and values expanded "
          "to the query heads.", {"q": q, "k": k, "v": v, "out": attend(q, k, v, 0.125, candle.f32)},
          args, wrapper="none")

    q, k, v = (t.to_dtype(candle.f16) for t in inputs(2, 12, 40, 4, 4, 64, std=3.0))
    write(folder, "candle-f16-naive", "f16 tensors, computed in f32.",
          {"q": q, "k": k, "v": v, "out": attend(q, k, v, 0.125, candle.f32)}, args,
          wrapper="candle-flash-attn", outs={"out_f16": attend(q, k, v, 0.125, candle.f16)},
          tests=[{"id": "f16-throughout", "note": "The same in f16: scores are rounded to f16.",
                  "change": out_of("out_f16"), "expect": MISMATCH}])
