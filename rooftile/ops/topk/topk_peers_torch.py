"""topk by torch: torch.topk with out=, along the last axis. Of equal elements torch takes any."""
from torch_child import Unsupported


def call(torch, t, p):
    x, values, indices = t["in"], t["values"], t["indices"]
    if p["stable"]:
        raise Unsupported("torch takes any of equal elements: asked where stable is false")
    return lambda: torch.topk(
        x, p["k"], dim=-1, largest=p["largest"], sorted=p["sorted"], out=(values, indices)
    )
