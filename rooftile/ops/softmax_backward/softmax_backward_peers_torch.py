"""softmax_backward by torch: what autograd calls for torch.softmax and torch.log_softmax, with out=."""
from torch_child import Unsupported


def call(torch, t, p):
    y, dy, dx = t["y"], t["dy"], t["dx"]
    if p["temperature"] != 1:
        raise Unsupported("torch.softmax has no temperature")
    aten = torch.ops.aten
    if p["log"]:
        return lambda: aten._log_softmax_backward_data.out(dy, y, -1, y.dtype, out=dx)
    if y.dtype != torch.float32:
        raise Unsupported("torch rounds dy * y to 16 bits before it adds it up: more than the one rounding of dx")
    return lambda: aten._softmax_backward_data.out(dy, y, -1, y.dtype, grad_input=dx)
