"""layer_norm by torch: torch.nn.functional.layer_norm, which returns its result."""
from torch_child import Returned, Unsupported


def call(torch, t, p):
    x, weight, bias, y = t["x"], t["weight"], t["bias"], t["y"]
    if t["residual"] is not None:
        raise Unsupported("torch.nn.functional.layer_norm adds no residual")
    columns = x.shape[-1:]

    def normalised():
        return torch.nn.functional.layer_norm(x, columns, weight, bias, p["eps"])

    return {
        "torch": Returned(torch, lambda: {"y": normalised()}),
        "torch_compile": torch.compile(lambda: y.copy_(normalised()), dynamic=False),
    }
