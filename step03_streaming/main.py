"""The conversation: read a line, answer it, wait for the next."""

import asyncio
import contextlib
import importlib
import io
import locale
import sys
from collections.abc import Iterable, Iterator

from .fake_model import FakeModel
from .harness_types import Context, StreamOptions, user_text
from .render import render_stream
from .rules import RULES


def chat(lines: Iterable[str], *, delay: float = 0.0) -> Context:
    """Answer line after line until /exit, the last line or Ctrl-C; return the whole context.

    `delay` is the time between two pieces of the model's text, in seconds.
    """
    model = FakeModel(RULES)
    context = Context(messages=[])
    options = StreamOptions(delay=delay)
    # The lines are read outside the event loop, so that Ctrl-C reaches whoever is typing.
    with asyncio.Runner() as runner:
        try:
            for line in map(str.strip, lines):
                if line == "/exit":
                    break
                if not line:
                    continue
                context.messages.append(user_text(line))
                message = runner.run(render_stream(model(context, options)))
                # Only a reply that ended well is kept; half a reply would mislead the next one.
                if message is not None:
                    context.messages.append(message)
                print()
        except KeyboardInterrupt:
            print()
    print(f"再见。（本次对话共 {len(context.messages)} 条消息）")
    return context


def typed_lines() -> Iterator[str]:
    """Ask for line after line until the input ends; what comes through a pipe is shown too."""
    while True:
        try:
            line = input("你> ")
        except EOFError:
            print()
            return
        if not on_terminal():
            print(line)
        yield line


def shown_lines(lines: Iterable[str]) -> Iterator[str]:
    """Give the lines of a script, each shown as if it had been typed."""
    for line in lines:
        print(f"你> {line}")
        yield line


def known_words() -> list[str]:
    """Return what a sentence may contain for the script to have an answer of its own."""
    matches = [rule.match for rule in RULES if rule.match is not None]
    return [match for match in matches if not match.startswith("toolResult:")]


def on_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def use_utf8() -> None:
    """Read and write UTF-8 and plain line feeds, whatever the platform and its locale say."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def main() -> None:
    """Talk on the terminal, or answer what a pipe says."""
    use_utf8()
    if on_terminal():
        # readline lets input() edit a line; without a UTF-8 locale it would garble Chinese.
        with contextlib.suppress(ImportError, AttributeError):
            if locale.nl_langinfo(locale.CODESET) == "UTF-8":
                importlib.import_module("readline")
        print(f"输入一句话开始，/exit 离开。剧本认得的字样：{'、'.join(known_words())}")
    chat(typed_lines(), delay=0.03 if on_terminal() else 0.0)
