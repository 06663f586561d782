#!/usr/bin/env python3
"""Times PyTorch's scaled_dot_product_attention on the shapes that attention_bench timed.

Both of its fast backends, flash and cuDNN, with inputs and clock as attention_bench has them. It has
no page table, so a paged shape is timed with K and V contiguous; and it aligns a causal mask to the
top left, so where there are more keys than queries it is timed without a mask, which is hardly more
work there. Status 77 if there is no torch or torch sees no device.
"""

import argparse
import json
import sys
import time

SKIPPED = 77
WARM_UP_SECONDS = 0.05
ROW_SECONDS = 0.3
L2S_BETWEEN_USES = 4

try:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(SKIPPED)

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def seconds_between(events):
    events[-1].synchronize()
    return [1e-3 * a.elapsed_time(b) for a, b in zip(events, events[1:])]


def timed(launch, count):
    events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
    events[0].record()
    for n in range(count):
        launch(n)
        events[n + 1].record()
    return seconds_between(events)


def time_launches(launch):
    """As tests/gpu/timing.h: an event between every two launches, after a warm-up."""
    count = 1
    while True:
        total = sum(timed(launch, count))
        if total >= WARM_UP_SECONDS or count >= 4096:
            break
        count *= 2
    seconds = sorted(timed(launch, min(400, max(10, int(ROW_SECONDS * count / max(total, 1e-6))))))
    return {
        "min": seconds[0],
        "median": seconds[len(seconds) // 2],
        "p90": seconds[len(seconds) * 9 // 10],
        "launches": len(seconds),
    }


class Inputs:
    """q, k and v of a shape, [batch][tokens][heads][head_dim], in copies that outrun the L2."""

    def __init__(self, shape):
        b, h, hk, d = (shape[k] for k in ("batch_size", "num_heads", "num_heads_k", "head_dim"))
        q, k = (b, shape["seqlen_q"], h, d), (b, shape["seqlen_k"], hk, d)
        elements = b * d * (shape["seqlen_q"] * h + 2 * shape["seqlen_k"] * hk)
        l2 = torch.cuda.get_device_properties(0).L2_cache_size
        copies = 1 + L2S_BETWEEN_USES * l2 // (2 * elements)
        random = lambda size: torch.randn(size, dtype=torch.float16, device="cuda").transpose(1, 2)
        self.copies = [(random(q), random(k), random(k)) for _ in range(copies)]
        self.options = {"is_causal": shape["is_causal"] and shape["seqlen_q"] == shape["seqlen_k"]}
        if h != hk:
            self.options["enable_gqa"] = True

    def launch(self, n):
        q, k, v = self.copies[n % len(self.copies)]
        torch.nn.functional.scaled_dot_product_attention(q, k, v, **self.options)


def bench_backends(shape):
    rows = {}
    try:
        inputs = Inputs(shape)
    except RuntimeError as error:  # too little memory
        return {name: {"failure": str(error).splitlines()[0]} for name in BACKENDS}
    for name, backend in BACKENDS.items():
        try:
            with torch.inference_mode(), sdpa_kernel(backend):
                seconds = time_launches(inputs.launch)
        except (RuntimeError, TypeError) as error:  # a backend that does not take this call
            rows[name] = {"failure": (str(error).splitlines() or [repr(error)])[0]}
            continue
        rows[name] = {
            "seconds": seconds,
            "flops_per_second": shape["useful_flops"] / seconds["median"],
            "kv_bytes_per_second": shape["kv_bytes"] / seconds["median"],
        }
    return rows


def print_row(shape, ours, backends):
    heads = f"{shape['num_heads']}/{shape['num_heads_k']}"
    print(
        f"{shape['kind']:<8}{shape['batch_size']:>5}{shape['seqlen_q']:>6}{shape['seqlen_k']:>8}"
        f"{heads:>7}{shape['head_dim']:>5}{shape['page_block_size'] or '-':>6}"
        f"{'causal' if shape['is_causal'] else 'full':>7}",
        end="",
    )
    medians = [ours.get("seconds", {}).get("median")]
    medians += [backends[name].get("seconds", {}).get("median") for name in BACKENDS]
    for median in medians:
        print(f"{1e6 * median:>11.1f}" if median else f"{'-':>11}", end="")
    peers = [median for median in medians[1:] if median]
    print(f"{min(peers) / medians[0]:>8.2f}" if peers and medians[0] else f"{'-':>8}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", required=True, help="what attention_bench --output wrote")
    parser.add_argument("--output", required=True, help="where the JSON goes")
    parser.add_argument("--budget", type=float, default=120, help="seconds; later shapes are left out")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        print("skipped: torch sees no device")
        return SKIPPED
    try:
        with open(options.beside, encoding="utf-8") as file:
            ours = json.load(file)["rows"]
    except OSError as error:
        print(f"there are no shapes: {error}")
        return 1

    print(f"torch {torch.__version__}; median us, and how much faster than the best peer we are")
    print("kind    batch     q       k  heads    d  page   mask flashcheck      flash      cudnn   ratio")
    start = time.monotonic()
    rows, known = [], {}
    for row in ours:
        shape = row["shape"]
        key = json.dumps({**shape, "page_block_size": 0})
        if key not in known:
            if time.monotonic() - start > options.budget:
                why = {"failure": f"left out: over the {options.budget:.0f} s of --budget"}
                known[key] = dict.fromkeys(BACKENDS, why)
            else:
                known[key] = bench_backends(shape)
        rows.append({"shape": shape, "backends": known[key]})
        print_row(shape, row, known[key])
    result = {
        "format": "flashcheck-bench/1",
        "kernel": "torch.nn.functional.scaled_dot_product_attention",
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version(),
        "rows": rows,
    }
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
