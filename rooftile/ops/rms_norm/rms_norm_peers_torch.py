"""rms_norm by torch: torch.nn.functional.rms_norm, which returns its result."""
from torch_child import Returned, Unsupported


def call(torch, t, p):
    x, weight, y = t["x"], t["weight"], t["y"]
    if t["residual"] is not None:
        raise Unsupported("torch.nn.functional.rms_norm adds no residual")
    if not hasattr(torch.nn.functional, "rms_norm"):
        raise Unsupported(f"torch {torch.__version__} has no rms_norm")
    columns = x.shape[-1:]

    def normalised():
        return torch.nn.functional.rms_norm(x, columns, weight, p["eps"])

    return {
        "torch": Returned(torch, lambda: {"y": normalised()}),
        "torch_compile": torch.compile(lambda: y.copy_(normalised()), dynamic=False),
    }
