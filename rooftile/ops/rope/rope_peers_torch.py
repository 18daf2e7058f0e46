"""rope by torch: the half form as Hugging Face's Llama writes it, with tables that are there before; and what torch's compiler makes of it."""
from torch_child import Returned, Unsupported


def call(torch, t, p):
    q, k = t["q"], t["k"]
    width = q.shape[-1]
    if p["form"] != "half" or p["rotary"] not in (0, width) or p["scaling"] != "none" or p["inverse"]:
        raise Unsupported("torch is asked for the half form of whole heads, forward, without scaling")
    steps = torch.arange(0, width, 2, dtype=torch.float64, device=q.device) / width
    frequencies = float(p["base"]) ** -steps
    positions = t["positions"]
    if positions is None:
        positions = torch.arange(q.shape[1], device=q.device)
    angles = positions.to(torch.float64)[..., None, None] * torch.cat((frequencies, frequencies))
    cosine, sine = angles.cos().to(q.dtype), angles.sin().to(q.dtype)

    def turned(x):
        low, high = x[..., : width // 2], x[..., width // 2 :]
        return x * cosine + torch.cat((-high, low), dim=-1) * sine

    def heads():
        outputs = {"q_out": turned(q)}
        if k is not None:
            outputs["k_out"] = turned(k)
        return outputs

    def copied():
        for name, output in heads().items():
            t[name].copy_(output)

    return {"torch": Returned(torch, heads), "torch_compile": torch.compile(copied, dynamic=False)}
