"""Quoting a model: what it wrote comes back to it inside a message, and must not harm that."""

MAX_QUOTED = 200  # characters


def quoted(text: str) -> str:
    """Return what the model wrote, fit to be sent back to it: not too long, and encodable."""
    if len(text) > MAX_QUOTED:
        text = f"{text[:MAX_QUOTED]}…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
