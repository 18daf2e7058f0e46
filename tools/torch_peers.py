#!/usr/bin/env python3
"""torch_peers.py OPERATOR --shape m=8192,n=8192 --dtype f32 [--json FILE] [--rounds 50]

Times what torch does for an operator, on the operator's shape, and prints a record of `rooftile ladder`'s form. It is
another process than ours: the rows are not interleaved with our rungs, so the record says so ("process": "other") and
brings torch's own copy of the same bytes as its bound. Caches are flushed before every launch, as in stream-cold.

Exit codes: 0 done; 1 the result was wrong; 2 the call is wrong; 3 no torch or no GPU.
"""
import argparse
import json
import math
import statistics
import sys

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


OPERATORS = {"transpose": transpose}


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


def row(rung, kind, samples, gigabytes, bound_us, **fields):
    quarters = statistics.quantiles(samples, n=4)
    median = statistics.median(samples)
    return {
        "rung": rung, "kind": kind, "device": "cuda:0", "chosen": False, "process": "other",
        "time_us": {"median": round(median, 3), "iqr": round(quarters[2] - quarters[0], 3), "n": len(samples),
                    "mode": "stream-cold", "samples": [float(f"{s:.4g}") for s in samples]},
        "gbps": round(gigabytes / (median * 1e-6), 1), "bound_fraction": round(bound_us / median, 4), **fields,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("operator", choices=sorted(OPERATORS))
    parser.add_argument("--shape", required=True)
    parser.add_argument("--dtype", default="f32", choices=sorted(DTYPES))
    parser.add_argument("--json", default="-")
    parser.add_argument("--rounds", type=int, default=50)
    arguments = parser.parse_args()
    try:
        import torch  # found, not demanded
    except ImportError:
        fail(3, "torch is not installed here")
    if not torch.cuda.is_available():
        fail(3, "torch finds no GPU here")

    shape = parse_shape(arguments.shape)
    source, target, launch, verify = OPERATORS[arguments.operator](torch, shape, getattr(torch, DTYPES[arguments.dtype]))
    launch()
    verified = verify()
    twin = torch.empty_like(source)
    ours, copies = time_interleaved(torch, [launch, lambda: twin.copy_(source)], arguments.rounds)
    read, written = source.nbytes, target.nbytes
    gigabytes = (read + written) * 1e-9
    bound_us = statistics.median(copies)
    record = {
        "schema": 1,
        "operator": arguments.operator,
        "machine": {"gpu": torch.cuda.get_device_name(0), "torch": torch.__version__, "cuda": torch.version.cuda},
        "process": "other",
        "command": " ".join(["tools/torch_peers.py", *sys.argv[1:]]),
        "results": [{
            "case": {"shape": shape, "dtype": arguments.dtype, "params": {}, "bytes": read + written, "flops": 0},
            "rows": [
                row("torch", "peer", ours, gigabytes, bound_us, status="ok" if verified else "failed",
                    verified=verified, reason="other process: not interleaved with our rungs"),
                row("torch_copy", "bound", copies, gigabytes, bound_us, status="ok", verified=False,
                    reason="torch's copy of the same bytes"),
            ],
        }],
    }  # fmt: skip
    if arguments.json == "-":
        json.dump(record, sys.stdout)
        print()
    else:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(record, file)
            file.write("\n")
        for line in record["results"][0]["rows"]:
            print(f"{line['rung']:<12} {line['time_us']['median']:10.2f} us {line['gbps']:8.0f} GB/s"
                  f" {line['bound_fraction']:6.3f} of torch's copy")  # fmt: skip
    if not verified or math.isnan(bound_us):
        fail(1, "torch's result is wrong")


if __name__ == "__main__":
    main()
