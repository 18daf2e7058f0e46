"""rope by torch: the half form as Hugging Face's Llama writes it, with tables that are there before, in f32 and rounded once, which is
what the reference allows (tables and products in 16 bits are off by more); and what torch's compiler makes of it."""
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
    cosine, sine = angles.cos().float(), angles.sin().float()

    def turned(x):
        wide = x.float()
        low, high = wide[..., : width // 2], wide[..., width // 2 :]
        return (wide * cosine + torch.cat((-high, low), dim=-1) * sine).to(x.dtype)

    def heads():
        outputs = {"q_out": turned(q)}
        if k is not None:
            outputs["k_out"] = turned(k)
        return outputs

    def copied():
        for name, output in heads().items():
            t[name].copy_(output)

    return {"torch": Returned(torch, heads), "torch_compile": torch.compile(copied, dynamic=False)}
