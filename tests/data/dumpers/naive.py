"""Judges case files with dumps by the textbook formula in double precision. Needs numpy alone.

Independent of the engines and of flashcheck: it exists so that a dump is known to be what its case
says before flashcheck sees it. Reads only the calls that dumps make (row-major files, no errors).
"""

import copy
import json
import pathlib
import struct

import numpy as np

ROUNDOFF = {"f32": 2.0**-24, "f16": 2.0**-11, "bf16": 2.0**-8}
FILE_TYPES = {"F32": "<f4", "F16": "<f2", "BF16": "<u2", "U32": "<u4"}


def merge_patch(target, patch):
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def read_tensor(spec, folder):
    if "values" in spec:
        return np.array(spec["values"], dtype=np.float64).reshape(spec["shape"])
    path = folder / spec["file"]
    if path.suffix == ".npy":
        array = np.load(path)
    else:
        content = path.read_bytes()
        (header_size,) = struct.unpack("<Q", content[:8])
        entry = json.loads(content[8:8 + header_size])[spec["tensor"]]
        begin, end = entry["data_offsets"]
        array = np.frombuffer(content[8 + header_size:][begin:end], FILE_TYPES[entry["dtype"]])
        if entry["dtype"] == "BF16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        array = array.reshape(entry["shape"])
    assert list(array.shape) == spec["shape"], (path, array.shape, spec["shape"])
    return array.astype(np.float64)


def sequences(case, tensors):
    """q, k, v and out of every sequence, each [heads, tokens, dim]."""
    q, k, v, out = (tensors[name] for name in ("q", "k", "v", "out"))
    if "varlen" not in case["function"]:
        for batch in range(q.shape[0]):
            yield tuple(t[batch].swapaxes(0, 1) for t in (q, k, v, out))
        return
    starts_q, starts_k = (tensors[name].astype(int) for name in ("seqlens_q", "seqlens_k"))
    for batch in range(len(starts_q) - 1):
        rows_q = slice(starts_q[batch], starts_q[batch + 1])
        rows_k = slice(starts_k[batch], starts_k[batch + 1])
        if "block_table" in tensors:
            length = rows_k.stop - rows_k.start
            pages = tensors["block_table"][batch].astype(int)
            pages = pages[:-(-length // k.shape[1])]
            keys, values = (np.concatenate(t[pages])[:length] for t in (k, v))
        else:
            keys, values = k[rows_k], v[rows_k]
        yield tuple(t.swapaxes(0, 1) for t in (q[rows_q], keys, values, out[rows_q]))


def visible(args, seqlen_q, seqlen_k):
    distance = np.arange(seqlen_k)[None] - (np.arange(seqlen_q)[:, None] + seqlen_k - seqlen_q)
    left, right = args.get("window_size_left"), args.get("window_size_right")
    if args.get("causal"):
        right = 0
    mask = np.ones(distance.shape, bool)
    if left is not None:
        mask &= distance >= -left
    if right is not None:
        mask &= distance <= right
    return mask, abs(distance)


def worst_ratio(case, folder):
    """The largest error of `out` (and of `lse`, where dumped) as a share of what rounding allows."""
    tensors = {name: read_tensor(spec, folder) for name, spec in case["tensors"].items()}
    args, arithmetic = case["args"], case.get("arithmetic", {})
    unit_p = 0 if arithmetic.get("p") == "f32" else ROUNDOFF[case["tensors"]["q"]["dtype"]]
    unit_out = ROUNDOFF[case["tensors"]["out"]["dtype"]]
    scale, softcap = np.float64(np.float32(args["softmax_scale"])), args.get("softcap")
    ratios = []
    for number, (q, k, v, out) in enumerate(sequences(case, tensors)):
        k, v = (np.repeat(t, len(q) // len(t), axis=0) for t in (k, v))
        scores = scale * (q @ k.swapaxes(1, 2))
        mask, distance = visible(args, q.shape[1], k.shape[1])
        largest_sum = np.where(mask, scale * (abs(q) @ abs(k).swapaxes(1, 2)), 0).max(-1, initial=0)
        if softcap:
            scores = softcap * np.tanh(scores / softcap)
        if "alibi_slopes" in tensors:
            scores = scores - tensors["alibi_slopes"][:, None, None] * distance
        largest = np.where(mask, abs(scores), 0).max(-1, initial=0)
        scores = np.where(mask, scores, -np.inf)
        peak = np.where(mask.any(-1), scores.max(-1, initial=-np.inf), 0)
        weights = np.exp(scores - peak[..., None])
        total = weights.sum(-1)
        lse = peak + np.log(np.where(total > 0, total, np.nan))
        weights = weights / np.where(total > 0, total, 1)[..., None]
        expected, magnitude = weights @ v, weights @ abs(v)

        count = mask.sum(-1)
        delta = (q.shape[-1] + 2) * 2.0**-24 * largest_sum + 8 * largest * 2.0**-23
        exponent = 2 * delta + (2 * count + 16) * 2.0**-23
        sums = unit_p + exponent
        if arithmetic.get("accumulate") == "f16":
            sums = sums + (count + 16) * ROUNDOFF["f16"]
        bound = 1.02 * (magnitude * sums[..., None] + unit_out * abs(expected)) + 2.0**-149
        ratios.append((abs(out - expected) / bound).max(initial=0))
        if "lse" in tensors:
            error = abs(tensors["lse"][number] - lse) / (exponent + 2.0**-23 * abs(lse))
            ratios.append(error.max(initial=0))
    return max(ratios)


def check(path):
    """Asserts every verdict that the file expects; returns (id, expected verdict, worst ratio)."""
    control = json.loads(path.read_text(encoding="utf-8"))
    tests = control.pop("tests", [])
    runs = [(path.stem, control)] if "expect" in control else []
    for test in tests:
        changed = merge_patch(copy.deepcopy(control), test["change"])
        runs.append((f"{path.stem}/{test['id']}", changed | {"expect": test["expect"]}))
    for name, case in runs:
        ratio, verdict = worst_ratio(case, path.parent), case["expect"]["verdict"]
        assert verdict in ("ok", "mismatch"), (name, verdict)
        assert (ratio <= 1) == (verdict == "ok"), f"{name}: {verdict} expected, ratio {ratio:.4g}"
        yield name, verdict, ratio


if __name__ == "__main__":
    dumps = pathlib.Path(__file__).resolve().parent.parent / "dumps"
    for file in sorted(dumps.rglob("*.json")):
        for name, verdict, ratio in check(file):
            print(f"{name:58} {verdict:9} {ratio:12.4g} of the bound")
