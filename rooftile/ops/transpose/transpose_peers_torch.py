"""transpose by torch: a copy of the transposed view."""
from torch_child import Unsupported


def as_one(torch, tensor):
    """What moves as one as one element: a dimension less."""
    wide = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64, 16: torch.complex128}
    return tensor.view(wide[tensor.shape[-1] * tensor.element_size()]).squeeze(-1)


def call(torch, t, p):
    x, out = t["in"], t["out"]
    if x is out:
        raise Unsupported("torch transposes nothing in place")
    bits = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]
    x, out = x.view(bits), out.view(bits)
    row = -2
    if p["packed"]:
        try:
            x, out = as_one(torch, x), as_one(torch, out)
        except RuntimeError:  # it does not lie where one element of that size could
            row = -3
    source = x.transpose(row, row + 1)
    return lambda: out.copy_(source)
