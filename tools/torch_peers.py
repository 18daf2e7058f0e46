#!/usr/bin/env python3
"""torch_peers.py OPERATOR --shape m=8192,n=8192 --dtype f32 --json FILE [--append] [--rounds 50]

Times what torch does for an operator, on the operator's shape, and writes a record that `rooftile ladder --peer-json`
shows beside our rungs (docs/measuring.md, "Peers of other processes"): its launches do not take turns with ours, so it
has neither ratio nor verdict. Caches are flushed before every launch, as in stream-cold. --append keeps the other
cases that FILE holds. tools/gpu_record looks for OUT/<operator>_other_process.json.

Exit codes: 0 done; 1 the result was wrong; 2 the call is wrong; 3 no torch or no GPU.
"""
import argparse
import json
import os
import statistics
import sys

# Raised when a change makes the same call show another time: rows of another version are stale (docs/records.md).
MEASURING_VERSION = 1

DTYPES = {  # bits are moved: unsigned and 8-bit floats travel as integers of their size
    "f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f8e4m3": "uint8", "f8e5m2": "uint8",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "int16", "u32": "int32",
    "u64": "int64",
}  # fmt: skip


def fail(code, text):
    print(f"torch_peers: {text}", file=sys.stderr)
    sys.exit(code)


def parse_count(text):
    base, _, power = text.partition("^")
    return int(base) ** int(power) if power else int(base)


def parse_shape(text):
    try:
        return {key: parse_count(count) for key, count in (item.split("=") for item in text.split(","))}
    except ValueError:
        fail(2, f"'{text}' is no shape: write it as m=8192,n=8192")


def make_input(torch, shape, dtype):
    if dtype.is_floating_point:
        return torch.rand(shape, device="cuda", dtype=torch.float32).mul_(2).sub_(1).to(dtype)
    limits = torch.iinfo(dtype)
    return torch.randint(max(limits.min, -1000), min(limits.max, 1000), shape, device="cuda", dtype=dtype)


def transpose(torch, shape, dtype):
    """The tensors, what torch does with them, and whether it did it."""
    if not {"m", "n"} <= set(shape):
        fail(2, "transpose needs m and n")
    source = make_input(torch, [shape[key] for key in ("b", "m", "n") if key in shape], dtype)
    target = torch.empty_like(source.transpose(-1, -2), memory_format=torch.contiguous_format)
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[source.element_size()]

    def verify():
        return torch.equal(target.view(bits).transpose(-1, -2), source.view(bits))

    return source, target, lambda: target.copy_(source.transpose(-1, -2)), verify


# What makes the call, and the parameters of the case that it stands for.
OPERATORS = {"transpose": (transpose, {"packed": False})}


def time_interleaved(torch, launches, rounds):
    """Microseconds of each launch, one sample per round, cold: a buffer of twice the L2 is written before each."""
    flush = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.uint8, device="cuda")
    samples = [[] for _ in launches]
    for launch in launches:
        launch()
    for index in range(rounds):
        events = []
        for which in range(len(launches)) if index % 2 == 0 else reversed(range(len(launches))):
            flush.fill_(index % 255)
            start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            launches[which]()
            stop.record()
            events.append((which, start, stop))
        torch.cuda.synchronize()
        for which, start, stop in events:
            samples[which].append(1000.0 * start.elapsed_time(stop))
    return samples


def holds_a_list_of_objects(value):
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return any((isinstance(value, list) and isinstance(member, dict)) or holds_a_list_of_objects(member)
               for member in members)  # fmt: skip


def record_layout(value, indent=""):
    """A row a line, as rooftile/lab/base/record_layout.h writes records."""
    if not holds_a_list_of_objects(value):
        return json.dumps(value)
    inner = indent + " "
    if isinstance(value, dict):
        members = [f"{json.dumps(key)}: {record_layout(member, inner)}" for key, member in value.items()]
    else:
        members = [record_layout(member, inner) for member in value]
    text = ",\n".join(inner + member for member in members)
    brackets = "{}" if isinstance(value, dict) else "[]"
    return f"{brackets[0]}\n{text}\n{indent}{brackets[1]}" + ("\n" if indent == "" else "")


def read_results(path, operator):
    """The results of other cases, where the file is there."""
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
    except FileNotFoundError:
        return []
    except ValueError:
        fail(2, f"{path} holds no JSON")
    if record.get("schema") != 1 or record.get("operator") != operator:
        fail(2, f"{path} is no record of {operator}")
    return record["results"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operator", choices=sorted(OPERATORS))
    parser.add_argument("--shape", required=True)
    parser.add_argument("--dtype", default="f32", choices=sorted(DTYPES))
    parser.add_argument("--json", required=True)
    parser.add_argument("--append", action="store_true")
    parser.add_argument("--rounds", type=int, default=50)
    arguments = parser.parse_args()
    shape = parse_shape(arguments.shape)
    kept = read_results(arguments.json, arguments.operator) if arguments.append else []
    try:
        import torch  # found, not demanded
    except ImportError:
        fail(3, "torch is not installed here")
    if not torch.cuda.is_available():
        fail(3, "torch finds no GPU here")

    make, params = OPERATORS[arguments.operator]
    source, target, launch, verify = make(torch, shape, getattr(torch, DTYPES[arguments.dtype]))
    launch()
    if not verify():
        fail(1, "torch's result is wrong")
    twin = torch.empty_like(source)
    samples, copies = time_interleaved(torch, [launch, lambda: twin.copy_(source)], arguments.rounds)
    # Where the case's keys are more or less than what rooftile prints, the row finds no place in its table.
    case = {"shape": shape, "dtype": arguments.dtype, "params": params}
    result = {
        "mode": "stream-cold",
        "case": case,
        "command": " ".join(["tools/torch_peers.py", *(os.path.basename(arg) for arg in sys.argv[1:])]),
        "gpu": torch.cuda.get_device_name(0),
        "copy_us": statistics.median(copies),  # torch's own copy of the same bytes, in turns with its transposition
        "rows": [{
            "rung": "torch", "kind": "peer", "status": "ok", "verified": True,
            "reason": f"torch {torch.__version__}, another process",
            "sources": {"peer": str(MEASURING_VERSION)},
            "time_us": {"median": statistics.median(samples), "n": len(samples),
                        "samples": [float(f"{sample:.4g}") for sample in samples]},
        }],
    }  # fmt: skip
    record = {
        "schema": 1,
        "operator": arguments.operator,
        "results": [other for other in kept if other["case"] != case] + [result],
    }
    partial = f"{arguments.json}.partial"
    with open(partial, "w", encoding="utf-8") as file:
        file.write(record_layout(record))
    os.replace(partial, arguments.json)
    median = statistics.median(samples)
    print(f"torch {arguments.operator} {arguments.shape} {arguments.dtype}: {median:.2f} us,"
          f" {(source.nbytes + target.nbytes) / median * 1e-3:.0f} GB/s, {result['copy_us'] / median:.3f} of its copy")  # fmt: skip


if __name__ == "__main__":
    main()
