"""gemv by torch: torch.mv and torch.addmv with out=, torch.bmm and torch.baddbmm for a batch."""
from torch_child import Unsupported


def call(torch, t, p):
    a, x, c, y = t["a"], t["x"], t["c"], t["y"]
    if p["transpose"]:
        a = a.mT
    alpha, beta = p["alpha"], p["beta"]
    if c is None and alpha != 1:
        raise Unsupported("torch.mv has no factor: asked where alpha is 1, or c is there")
    if a.dim() == 3:
        x, y = x.unsqueeze(-1), y.unsqueeze(-1)
        if c is None:
            return lambda: torch.bmm(a, x, out=y)
        c = c.unsqueeze(-1)
        return lambda: torch.baddbmm(c, a, x, beta=beta, alpha=alpha, out=y)
    if c is None:
        return lambda: torch.mv(a, x, out=y)
    return lambda: torch.addmv(c, a, x, beta=beta, alpha=alpha, out=y)
