"""dropout by torch, timed alone: which elements it keeps nobody else can say, so that its results are judged where none or all are."""
from torch_child import Returned, Unsupported


def call(torch, t, p):
    if p["p"] not in (0, 1) or not p["upscale"] or p["form"] != "none":
        raise Unsupported("torch keeps other elements: asked where p is 0 or 1, without a mask")
    if any(t[name] is not None for name in ("bias", "residual", "kept", "counter")):
        raise Unsupported("torch.nn.functional.dropout has no bias, residual or counter")
    x = t["x"]
    return Returned(torch, lambda: {"y": torch.nn.functional.dropout(x, p["p"], p["training"])})
