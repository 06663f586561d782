"""Dumps one attention call of PyTorch as a flashcheck case. Needs torch and safetensors."""

import json
import pathlib

import torch
from safetensors.torch import save_file

DTYPES = {
    torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32", torch.float64: "f64",
    torch.uint8: "u8", torch.uint32: "u32", torch.int16: "i16", torch.int32: "i32",
    torch.int64: "i64", torch.float8_e4m3fn: "f8e4m3",
}


def case_from_torch(path, function, tensors, args, wrapper="candle-flash-attn", device=None):
    """Writes path.safetensors and path.json; returns the case.

    tensors: {"q": …, "k": …, "v": …, "out": …, "block_table": …}, as the wrapper's arguments are
             named and laid out: [batch, seqlen, heads, dim], varlen [tokens, heads, dim]. Give the
             views that the engine got, not copies: strides and storages are part of the question.
    args:    {"softmax_scale": 0.125, "causal": True, …}; None is Rust's None.
    device:  where the call is meant to run ("cuda:0"); None: where each tensor is.
    """
    path = pathlib.Path(path)
    views_of = {}  # the storage's address -> names of the tensors that look at it
    for name, tensor in tensors.items():
        views_of.setdefault(tensor.untyped_storage().data_ptr() or name, []).append(name)

    storages, specs = {}, {}
    for names in views_of.values():
        if len({tensors[name].dtype for name in names}) > 1:
            raise ValueError(f"{names} share a storage but not a dtype")
        for name in names:
            tensor = tensors[name]
            elements = tensor.untyped_storage().nbytes() // tensor.element_size()
            spec = {"dtype": DTYPES[tensor.dtype], "shape": list(tensor.shape)}
            if not tensor.is_contiguous():
                spec["strides"] = list(tensor.stride())
            if tensor.storage_offset():
                spec["offset"] = tensor.storage_offset()
            place = device or str(tensor.device)
            if place != "cuda:0":
                spec["device"] = place
            if len(names) > 1:
                spec["storage"] = "_".join(names)
                storages[spec["storage"]] = {"elements": elements}
            elif elements != tensor.numel():
                spec["storage"] = elements
            specs[name] = spec | {"file": path.name + ".safetensors", "tensor": name}

    case = {"schema": 1, "wrapper": wrapper, "function": function, "storages": storages,
            "tensors": {name: specs[name] for name in tensors}, "args": args}
    save_file({name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()},
              f"{path}.safetensors")
    lines = {key: json.dumps(value) for key, value in case.items()}
    lines["tensors"] = "{\n    " + ",\n    ".join(
        f'"{name}": {json.dumps(spec)}' for name, spec in case["tensors"].items()) + "\n  }"
    text = "{\n  " + ",\n  ".join(f'"{key}": {line}' for key, line in lines.items()) + "\n}\n"
    pathlib.Path(f"{path}.json").write_text(text)
    return case
