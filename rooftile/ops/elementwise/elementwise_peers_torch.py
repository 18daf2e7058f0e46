"""elementwise by torch: a call with out= where torch has one, chains one call after the other."""
from torch_child import Unsupported

DIRECT = {
    "neg": "neg", "abs": "abs", "exp": "exp", "log": "log", "sqrt": "sqrt", "rsqrt": "rsqrt", "sin": "sin",
    "tanh": "tanh", "sigmoid": "sigmoid", "add": "add", "sub": "sub", "mul": "mul", "min": "minimum", "max": "maximum",
    "pow": "pow",
}  # fmt: skip


def step(torch, op, p, x, rest, out):
    """One function of x and what it takes from the front of `rest`, into out."""
    if op in DIRECT:
        function = getattr(torch, DIRECT[op])
        if op in ("add", "sub", "mul", "min", "max", "pow"):
            y = rest.pop(0)
            return lambda: function(x, y, out=out)
        return lambda: function(x, out=out)
    if op == "cast":
        return lambda: out.copy_(x)
    if op == "div" and out.dtype.is_floating_point:
        y = rest.pop(0)
        return lambda: torch.div(x, y, out=out)
    if op == "relu":
        return lambda: torch.clamp_min(x, 0, out=out)
    if op == "clamp":
        return lambda: torch.clamp(x, p["low"], p["high"], out=out)
    if op == "where":
        y, z = rest.pop(0), rest.pop(0)
        condition = x != 0
        return lambda: torch.where(condition, y, z, out=out)
    if op == "fma":
        y, z = rest.pop(0), rest.pop(0)
        return lambda: torch.addcmul(z, x, y, out=out)
    if op == "saxpy":
        y = rest.pop(0)
        return lambda: torch.add(y, x, alpha=p["alpha"], out=out)
    aten = torch.ops.aten
    if op == "silu":
        return lambda: aten.silu.out(x, out=out)
    if op in ("gelu_erf", "gelu_tanh"):
        kind = "none" if op == "gelu_erf" else "tanh"
        return lambda: aten.gelu.out(x, approximate=kind, out=out)
    raise Unsupported(f"torch is not asked for {op}")


def call(torch, t, p):
    x, out = t["a"], t["out"]
    rest = [tensor for tensor in (t["b"], t["c"]) if tensor is not None]
    ops = p["op"].split(",")
    if "where" in ops and ops != ["where"]:
        raise Unsupported("torch is asked for where by itself only")
    if len(ops) > 1 and out.element_size() < 4:
        raise Unsupported("torch rounds every result of a chain to 16 bits")
    if any(tensor.dtype != out.dtype for tensor in [x, *rest]) and ops != ["cast"]:
        raise Unsupported("torch is asked for tensors of one dtype only")
    steps = []
    for op in ops:
        steps.append(step(torch, op, p, x, rest, out))
        x = out
    if len(steps) == 1:
        return steps[0]

    def chain():
        for one in steps:
            one()

    return chain
