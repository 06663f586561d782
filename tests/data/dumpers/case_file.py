"""Writes case files as a person would: a line a tensor, short objects on one line."""

import json
import pathlib

KEYS = ("schema", "note", "refs", "wrapper", "function", "storages", "tensors", "args",
        "arithmetic", "expect", "tests")
OK = {"verdict": "ok"}
MISMATCH = {"verdict": "mismatch"}


def spec_of(array, file, entry=None):
    """The tensor of a row-major array that numpy, JAX or candle holds, its values in a file."""
    names = {"float32": "f32", "float16": "f16", "bfloat16": "bf16", "uint32": "u32"}
    dtype = str(array.dtype).lower()
    spec = {"dtype": names.get(dtype, dtype), "shape": list(array.shape), "file": file}
    return spec if entry is None else spec | {"tensor": entry}


def out_of(entry):
    """The change that has another entry of the same dump judged."""
    return {"tensors": {"out": {"tensor": entry}}}


def text_of(value, indent=0):
    line = json.dumps(value, ensure_ascii=False)
    is_long = indent + len(line) > 118
    is_top = indent < 4 and isinstance(value, dict)
    if not isinstance(value, (dict, list)) or not value or not (is_long or (is_top and indent == 0)):
        return line
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        items = [json.dumps(key) + ": " + text_of(item, indent + 2) for key, item in value.items()]
    else:
        items = [text_of(item, indent + 2) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(pad + item for item in items) + "\n" + " " * indent + closing


def write_case(path, case):
    case = {"schema": 1} | case
    if unknown := set(case) - set(KEYS):
        raise ValueError(f"not keys of a case: {unknown}")
    ordered = {key: case[key] for key in KEYS if case.get(key)}
    pathlib.Path(path).write_text(text_of(ordered) + "\n", encoding="utf-8")
