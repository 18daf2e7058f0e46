"""reduce by torch: sum, mean, amin, amax, argmin, argmax with out=."""
from torch_child import Unsupported


def adds_exactly(torch, x, out):
    """torch rounds elements to the result's dtype before it adds them: nothing is lost by that."""
    if x.dtype == out.dtype:
        return True
    if x.dtype.is_floating_point:
        return out.element_size() > x.element_size()
    return out.dtype == torch.float64 and x.element_size() < 8


def add_up(torch, function, x, out, dims):
    """sum and mean; unsigned sums are the bits of signed ones."""
    if out.dtype.is_floating_point:
        if not adds_exactly(torch, x, out):
            raise Unsupported(f"torch rounds {x.dtype} to {out.dtype} before it adds")
    else:
        out = out.view(torch.int64)
        x = x.view(torch.int64) if x.element_size() == 8 else x
    return lambda: function(x, dim=dims, dtype=out.dtype, out=out)


def find_best(function, x, out, dims):
    """argmin and argmax: torch searches one axis, or all; neighbouring axes are one where no gap divides them."""
    if len(dims) == x.dim():
        return lambda: function(x, out=out)
    first, last = dims[0], dims[-1]
    if dims != list(range(first, last + 1)):
        raise Unsupported("torch searches one axis, or axes beside each other")
    flat = x.flatten(first, last)
    if flat.data_ptr() != x.data_ptr():
        raise Unsupported("torch would copy these axes into one")
    return lambda: function(flat, dim=first, out=out)


def call(torch, t, p):
    x = t["in"]
    axes = range(x.dim()) if p["axes"] is None else p["axes"]
    dims = sorted(axis % x.dim() for axis in axes)
    out = t["out"].view([extent for axis, extent in enumerate(x.shape) if axis not in dims])
    if p["op"] in ("sum", "mean"):
        return add_up(torch, getattr(torch, p["op"]), x, out, dims)
    if p["op"] in ("argmin", "argmax"):
        return find_best(getattr(torch, p["op"]), x, out, dims)
    function = {"min": torch.amin, "max": torch.amax}[p["op"]]
    return lambda: function(x, dim=dims, out=out)
