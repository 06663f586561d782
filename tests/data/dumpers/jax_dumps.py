"""Calls of jax.nn.dot_product_attention on the CPU (XLA). Its tensors are [batch, tokens, heads,
dim], as candle's are, and it groups heads by itself."""

import jax
import jax.numpy as jnp
import numpy as np
from safetensors.flax import save_file

from .case_file import MISMATCH, OK, out_of, spec_of, write_case


def inputs(seed, dtype, batch, seqlen_q, seqlen_k, heads, heads_k, dim):
    generator = np.random.default_rng(seed)
    shapes = ((seqlen_q, heads), (seqlen_k, heads_k), (seqlen_k, heads_k))
    return [jnp.asarray(generator.standard_normal((batch, tokens, h, dim)), dtype)
            for tokens, h in shapes]


def attend(q, k, v, **options):
    return jax.nn.dot_product_attention(q, k, v, implementation="xla", **options)


def write(folder, name, note, function, tensors, args, *, wrapper, outs=None, tests=()):
    file = f"{name}.safetensors"
    save_file(tensors | (outs or {}), folder / file)
    write_case(folder / f"{name}.json", {
        "note": note, "wrapper": wrapper, "function": function,
        "tensors": {entry: spec_of(array, file, entry) for entry, array in tensors.items()},
        "args": args, "expect": OK, "tests": list(tests)})


def versions():
    return f"jax {jax.__version__}"


def make(folder):
    q, k, v = inputs(1, jnp.float32, 2, 19, 19, 4, 2, 64)
    write(folder, "jax-f32-causal", "JAX on the CPU in f32, is_causal with as many queries as keys.",
          "flash_attn",
          {"q": q, "k": k, "v": v, "out": attend(q, k, v, is_causal=True, scale=0.125)},
          {"softmax_scale": 0.125, "causal": True}, wrapper="none")

    q, k, v = inputs(2, jnp.bfloat16, 1, 6, 45, 6, 2, 80)
    scale = 80**-0.5
    mask = jnp.tril(jnp.ones((6, 45), bool), 39)[None, None]
    write(folder, "jax-bf16-extend", "JAX in bf16 with a mask aligned at the bottom right; 80 dims.",
          "flash_attn", {"q": q, "k": k, "v": v, "out": attend(q, k, v, mask=mask, scale=scale)},
          {"softmax_scale": scale, "causal": True}, wrapper="candle-flash-attn",
          outs={"out_is_causal": attend(q, k, v, is_causal=True, scale=scale)},
          tests=[{"id": "is-causal", "note": "JAX's is_causal aligns at the top left.",
                  "change": out_of("out_is_causal"), "expect": MISMATCH}])

    q, k, v = inputs(3, jnp.float16, 1, 33, 33, 4, 4, 64)
    out = attend(q, k, v, local_window_size=(8, 4), scale=0.125)
    args = {"softmax_scale": 0.125, "window_size_left": 8, "window_size_right": 4}
    write(folder, "jax-f16-window", "JAX in f16 with local_window_size=(8, 4), inclusive as "
          "candle's windows are.", "flash_attn_windowed", {"q": q, "k": k, "v": v, "out": out},
          args, wrapper="candle-flash-attn",
          tests=[{"id": "declared-swapped", "note": "Left and right exchanged.",
                  "change": {"args": {"window_size_left": 4, "window_size_right": 8}},
                  "expect": MISMATCH}])
