"""The first task of a step: the reader's own transcript, compared with the one of the book."""

from pathlib import Path

from .verdict import Verdict, differs, done, not_yet


def check_my_output(mine: Path, wanted: str, number: str) -> Verdict:
    """Compare the file that a reader wrote with the pinned transcript `wanted`."""
    command = f"make demo STEP={number} > labs/step{number}/my_output.txt"
    if not mine.exists():
        return not_yet(f"there is no labs/step{number}/my_output.txt", guess=f"type: {command}")
    text = decoded(mine.read_bytes())
    if text == wanted:
        return done(f"your transcript is the pinned one, all {len(wanted.splitlines())} lines")
    guess = (
        "was it another step, or was the file or the demo edited? git diff shows the demo's edits"
    )
    if not text:
        guess = f"the file is empty; type once more: {command}"
    elif text.startswith("make"):
        guess = f"make speaks in it too; type: python -m shared demo {number} > ..."
    return differs(
        "your transcript is not the pinned one", "my_output.txt", wanted, text, guess=guess
    )


def decoded(data: bytes) -> str:
    """Return the text of a file that a shell wrote, which on Windows may be UTF-16 with CRLF."""
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = data.decode("utf-16" if utf16 else "utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n")
