"""Quoting a model: what it wrote comes back to it inside a message, and must not harm that."""

MAX_QUOTED = 200  # characters


def quoted(text: str) -> str:
    """Return what the model wrote, fit to be sent back to it: not too long, and encodable."""
    if len(text) > MAX_QUOTED:
        text = f"{text[:MAX_QUOTED]}…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def error_text(error: Exception) -> str:
    """Return what an error says, with its class where the message alone says nothing.

    `KeyError("path")` only says 'path'. A group says what its members say.
    """
    name = type(error).__name__
    try:
        if isinstance(error, ExceptionGroup):
            return "；".join(map(error_text, error.exceptions))
        message = str(error)
        if message in map(repr, (error.args, *error.args)):
            return f"{name}: {message}"
        return message if message.strip() else name
    except Exception:
        return name
