"""rms_norm_backward by torch: the backward half of torch.nn.functional.rms_norm, which returns its results."""
from torch_child import Returned, Unsupported


def call(torch, t, p):
    if t["dsum"] is not None:
        raise Unsupported("torch.autograd adds no gradient past the norm")
    if not hasattr(torch.nn.functional, "rms_norm"):
        raise Unsupported(f"torch {torch.__version__} has no rms_norm")
    x, dy = t["x"].detach().requires_grad_(), t["dy"]
    columns = x.shape[-1:]
    weight = torch.ones(columns, dtype=x.dtype, device=x.device) if t["weight"] is None else t["weight"]
    weight = weight.detach().requires_grad_()
    y = torch.nn.functional.rms_norm(x, columns, weight, p["eps"])
    inputs = (x, weight)

    def backward():
        return dict(zip(("dx", "dweight"), torch.autograd.grad(y, inputs, dy, retain_graph=True)))

    return Returned(torch, backward)
