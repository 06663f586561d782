#!/usr/bin/env python3
"""Prints the table of docs/kernels.md: what ptxas makes of every instance of the CUDA kernel.

A cell is registers / blocks, with the bytes of local memory beside the registers where there are any.
Registers and local memory are ptxas's; shared memory is the tile table's; how many blocks share a
multiprocessor follows from both and from the limits of the compute capability (CUDA C++ Programming
Guide, technical specifications per compute capability).
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Per multiprocessor: KiB of shared memory, warps, blocks. All of them have 65,536 registers, a
# quarter for each of four schedulers, given to warps in steps of 256; and 1 KiB of a block's shared
# memory belongs to the system.
LIMITS = {
    80: (164, 64, 32),
    86: (100, 48, 16),
    89: (100, 48, 24),
    90: (228, 64, 32),
    100: (228, 64, 32),
    120: (100, 48, 24),
}
REGISTERS_OF_A_SCHEDULER, SCHEDULERS, REGISTER_STEP = 16384, 4, 256
RESERVED_BYTES = 1024


def tile_shapes():
    """(head_dim, columns, rows, keys, warps), in the order of kTileShapes."""
    with open(os.path.join(ROOT, "kernels/cuda/tile_shape.h"), encoding="utf-8") as file:
        rows = re.findall(r"^ *TileShape\{(\d+), (\d+), (\d+), (\d+), (\d+)\},", file.read(), re.M)
    return [tuple(map(int, row)) for row in rows]


def shared_bytes(head_dim, columns, rows, keys, warps, stages=2):
    return 2 * (rows * head_dim + stages * keys * (head_dim + columns))


def compile_verbosely(nvcc, architectures):
    command = [nvcc, "-std=c++20", "--expt-relaxed-constexpr", "-Xptxas", "-v", "-I", ROOT]
    command += [f"-gencode=arch=compute_{a},code=sm_{a}" for a in architectures]
    command += ["-c", os.path.join(ROOT, "kernels/cuda/launch.cu")]
    with tempfile.TemporaryDirectory() as folder:
        command += ["-o", os.path.join(folder, "launch.o")]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stderr


def parse(log):
    """{(architecture, index): [(registers, spilled and stack bytes) of each dtype]}"""
    found = {}
    key, local = None, 0
    for line in log.splitlines():
        if entry := re.search(r"Compiling entry function '(\S+)' for 'sm_(\d+)'", line):
            kernel = re.search(r"flash_forwardINS_\d+[A-Za-z0-9]+?ELi(\d+)E", entry[1])
            key = (int(entry[2]), int(kernel[1])) if kernel else None
        elif bytes_ := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+)", line):
            local = sum(map(int, bytes_.groups()))
        elif key and (used := re.search(r"Used (\d+) registers", line)):
            found.setdefault(key, []).append((int(used[1]), local))
    return found


def blocks_on_a_multiprocessor(architecture, registers, shared, warps):
    kib, max_warps, max_blocks = LIMITS[architecture]
    of_a_warp = -(-registers * 32 // REGISTER_STEP) * REGISTER_STEP
    by_registers = REGISTERS_OF_A_SCHEDULER // of_a_warp * SCHEDULERS // warps
    by_shared = kib * 1024 // (shared + RESERVED_BYTES)
    return min(by_registers, by_shared, max_warps // warps, max_blocks)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="80,90", help="compute capabilities (80,90)")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("log", nargs="?", help="what nvcc -Xptxas -v said, instead of running it")
    options = parser.parse_args()
    if options.log:
        with open(options.log, encoding="utf-8") as file:
            log = file.read()
    else:
        log = compile_verbosely(options.nvcc, options.arch.split(","))
    found = parse(log)
    architectures = sorted({architecture for architecture, _ in found})

    header = ["head dim", "columns", "rows", "keys", "warps", "shared KiB"]
    header += [f"sm_{a}" for a in architectures]
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for index, shape in enumerate(tile_shapes()):
        shared, warps = shared_bytes(*shape), shape[4]
        row = [*shape, shared // 1024]
        for a in architectures:
            registers = max(registers for registers, _ in found[(a, index)])
            local = max(local for _, local in found[(a, index)])
            blocks = blocks_on_a_multiprocessor(a, registers, shared, warps)
            row.append(f"{registers}{f' + {local} B' if local else ''} / {blocks}")
        print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main()
