#!/usr/bin/env python3
"""Computes attention with engines that are not flashcheck's and writes dumps/ and its cases.

    make_dumps.py torch jax …     the named engines' dumps, then checks every dump
    make_dumps.py                 checks every dump; needs numpy alone

Engines need not be installed together: run once in each environment. dumps/README.md says which
versions made the files that are here. Never part of the tests: other versions and other processors
may round differently, within what the cases allow.
"""

import importlib
import pathlib
import sys

sys.dont_write_bytecode = True
from dumpers import naive

ENGINES = ("torch", "jax", "onnxruntime", "candle")


def main():
    dumps = pathlib.Path(__file__).resolve().parent / "dumps"
    for engine in sys.argv[1:]:
        if engine not in ENGINES:
            sys.exit(f"no engine {engine!r}: {', '.join(ENGINES)}")
        module = importlib.import_module(f"dumpers.{engine}_dumps")
        module.make(dumps)
        for path in dumps.glob("*.safetensors"):
            path.chmod(0o644)  # some writers leave files that only their owner may read
        print(f"wrote the dumps of {module.versions()}")
    count = 0
    for path in sorted(dumps.rglob("*.json")):
        for name, verdict, ratio in naive.check(path):
            print(f"{name:48} {verdict:9} {ratio:12.4g} of the bound")
            count += 1
    print(f"{count} verdicts hold against the naive formula in double precision")


if __name__ == "__main__":
    main()
