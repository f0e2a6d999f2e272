"""The first task of a step: the reader's own transcript, compared with the one of the book."""

from pathlib import Path

from .conversation import play_demo
from .language import say
from .verdict import Verdict, differs, done, not_yet


def check_my_output(package: str, wanted: str) -> Verdict:
    """Compare the file that a reader wrote with `wanted`, the transcript of the step as shipped."""
    number = package[4:6]
    mine = Path(f"labs/step{number}/my_output.txt")
    command = f"make demo STEP={number} > {mine.as_posix()}"
    if not mine.exists():
        found = say("there is no {file}", file=mine.as_posix())
        return not_yet(found, guess=say("type: {command}", command=command))
    text = decoded(mine.read_bytes())
    if text == wanted:
        count = len(wanted.splitlines())
        return done(say("your output is the expected one, all {count} lines", count=count))
    found = say("your output is not the expected one")
    return differs(found, mine.name, wanted, text, guess=reason(package, wanted, text, command))


def decoded(data: bytes) -> str:
    """Return the text of a file that a shell wrote, which on Windows may be UTF-16 with CRLF."""
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    text = data.decode("utf-16" if utf16 else "utf-8-sig", errors="replace")
    return text.replace("\r\n", "\n")


def reason(package: str, wanted: str, text: str, command: str) -> str:
    """Return why a file may hold something else than the transcript."""
    if not text.strip():
        return say("the file is empty; type again: {command}", command=command)
    if text.startswith("make"):
        plain = f"python3 -m labs demo {package[4:6]} > ..."
        return say("make's own words are in it too; type: {command}", command=plain)
    if text == wanted * 2:
        return say("the demo is in it twice: use > and not >>, which adds to a file")
    if text.partition("\n")[0] != wanted.partition("\n")[0]:
        return say("was it another step? type: {command}", command=command)
    if text == play_demo(package):
        reset = f"make reset STEP={package[4:6]}"
        return say(
            "the step itself is changed: {reset}, then {command}", reset=reset, command=command
        )
    return say("was the file edited? type again: {command}", command=command)
