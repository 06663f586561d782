"""Calls of onnxruntime's attention operators on the CPU: GroupQueryAttention (with a cache) and the
standard's Attention."""

import numpy as np
import onnxruntime
from onnx import helper
from safetensors.numpy import save_file

from .case_file import MISMATCH, OK, out_of, spec_of, write_case


def inputs(seed, dtype, seqlen_q, seqlen_k, heads, heads_k, dim, std=1.0):
    generator = np.random.default_rng(seed)
    shapes = ((seqlen_q, heads), (seqlen_k, heads_k), (seqlen_k, heads_k))
    return [(generator.standard_normal((1, tokens, h, dim)) * (std if n == 0 else 1)).astype(dtype)
            for n, (tokens, h) in enumerate(shapes)]


def run(node, feeds, outputs):
    def described(name, array):
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype),
                                             array.shape)
    dtype = helper.np_dtype_to_tensor_dtype(feeds["q"].dtype)
    graph = helper.make_graph(
        [node], "attention", [described(name, array) for name, array in feeds.items()],
        [helper.make_tensor_value_info(name, dtype, None) for name in outputs])
    model = helper.make_model(graph, ir_version=10, opset_imports=[
        helper.make_opsetid("", 23), helper.make_opsetid("com.microsoft", 1)])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]


def group_query_attention(q, k, v, **attributes):
    """All but the last seqlen_q keys come from the cache; always causal."""
    seqlen_q, seqlen_k = q.shape[1], k.shape[1]
    past = [np.ascontiguousarray(t[:, :seqlen_k - seqlen_q].swapaxes(1, 2)) for t in (k, v)]
    new = [t[:, seqlen_k - seqlen_q:].reshape(1, seqlen_q, -1) for t in (k, v)]
    node = helper.make_node(
        "GroupQueryAttention",
        ["q", "k", "v", "past_k", "past_v", "last_key", "total"], ["out", "present_k", "present_v"],
        domain="com.microsoft", num_heads=q.shape[2], kv_num_heads=k.shape[2], **attributes)
    out = run(node, {"q": q.reshape(1, seqlen_q, -1), "k": new[0], "v": new[1],
                     "past_k": past[0], "past_v": past[1],
                     "last_key": np.array([seqlen_k - 1], np.int32),
                     "total": np.array(seqlen_k, np.int32)}, ["out", "present_k", "present_v"])
    return out.reshape(q.shape)


def attention(q, k, v, mask=None, **attributes):
    names = ["q", "k", "v"] + (["mask"] if mask is not None else [])
    node = helper.make_node("Attention", names, ["out"], q_num_heads=q.shape[2],
                            kv_num_heads=k.shape[2], **attributes)
    feeds = {name: t.reshape(1, t.shape[1], -1) for name, t in zip("qkv", (q, k, v))}
    return run(node, feeds | ({"mask": mask} if mask is not None else {}), ["out"]).reshape(q.shape)


def write(folder, name, note, function, tensors, args, *, wrapper="none", outs=None, tests=()):
    file = f"{name}.safetensors"
    save_file(tensors | (outs or {}), folder / file)
    write_case(folder / f"{name}.json", {
        "note": note, "wrapper": wrapper, "function": function,
        "tensors": {entry: spec_of(array, file, entry) for entry, array in tensors.items()},
        "args": args, "expect": OK, "tests": list(tests)})


def versions():
    return f"onnxruntime {onnxruntime.__version__}"


def make(folder):
    q, k, v = inputs(1, np.float32, 9, 50, 4, 2, 64)
    out = group_query_attention(q, k, v, scale=0.125, local_window_size=17)
    write(folder, "onnxruntime-f32-window", "GroupQueryAttention with local_window_size 17, which "
          "counts the query's own key: 16 before it.", "flash_attn_windowed",
          {"q": q, "k": k, "v": v, "out": out},
          {"softmax_scale": 0.125, "window_size_left": 16, "window_size_right": 0},
          tests=[{"id": "declared-17", "note": "The attribute's number, taken over as it stands.",
                  "change": {"args": {"window_size_left": 17}}, "expect": MISMATCH}])

    q, k, v = inputs(2, np.float32, 7, 40, 4, 1, 64, std=3.0)
    out = group_query_attention(q, k, v, scale=0.2, softcap=5.0)
    args = {"softmax_scale": 0.2, "window_size_left": None, "window_size_right": 0, "softcap": 5.0}
    write(folder, "onnxruntime-f32-softcap", "GroupQueryAttention with a softcap of 5.",
          "flash_attn_alibi_windowed_softcap", {"q": q, "k": k, "v": v, "out": out}, args,
          tests=[{"id": "declared-50", "note": "Another softcap declared.",
                  "change": {"args": {"softcap": 50.0}}, "expect": MISMATCH}])

    q, k, v = inputs(3, np.float32, 8, 30, 4, 2, 64)
    mask = np.tril(np.ones((8, 30), bool), 22)
    write(folder, "onnxruntime-f32-attention", "The standard's Attention with a mask aligned at "
          "the bottom right.", "flash_attn",
          {"q": q, "k": k, "v": v, "out": attention(q, k, v, mask, scale=0.125)},
          {"softmax_scale": 0.125, "causal": True},
          outs={"out_is_causal": attention(q, k, v, scale=0.125, is_causal=1)},
          tests=[{"id": "is-causal", "note": "is_causal without a cache aligns at the top left.",
                  "change": out_of("out_is_causal"), "expect": MISMATCH}])

    q, k, v = inputs(4, np.float16, 30, 30, 4, 4, 64, std=3.0)
    write(folder, "onnxruntime-f16-causal", "GroupQueryAttention in f16 without a cache, large "
          "scores kept in f32.", "flash_attn",
          {"q": q, "k": k, "v": v, "out": group_query_attention(q, k, v, scale=0.125)},
          {"softmax_scale": 0.125, "causal": True}, wrapper="candle-flash-attn",
          outs={"out_attention": attention(q, k, v, scale=0.125, is_causal=1)},
          tests=[{"id": "attention", "note": "The operator Attention rounds its scores to f16.",
                  "change": out_of("out_attention"), "expect": MISMATCH}])
