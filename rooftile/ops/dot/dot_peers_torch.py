"""dot by torch: torch.dot with out=."""
from torch_child import Unsupported


def call(torch, t, p):
    a, b = t["a"], t["b"]
    if t["out"].dtype != a.dtype:
        raise Unsupported("torch's result has the vectors' dtype")
    if p["compute_dtype"] is not None and p["compute_dtype"] != a.dtype and a.dtype == torch.float32:
        raise Unsupported("torch accumulates f32 in f32")
    out = t["out"].view([])
    return lambda: torch.dot(a, b, out=out)
