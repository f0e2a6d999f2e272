"""The conversation: read a line, answer it, wait for the next."""

import asyncio
import sys
from collections.abc import Iterable, Sequence

from .fake_model import FakeModel
from .harness_types import Context, StreamOptions, user_text
from .render import render_stream
from .rules import RULES
from .terminal import on_terminal, quiet_end, typed_lines, use_readline, use_utf8, visible_line


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


def known_words() -> list[str]:
    """Return what a sentence may contain for the script to have an answer of its own."""
    return [rule.match for rule in RULES if rule.match is not None]


def main(arguments: Sequence[str]) -> None:
    """Talk on the terminal, or answer what a pipe says."""
    use_utf8()
    if arguments:
        print(f"这里不需要参数，请去掉：{visible_line(arguments[0])}", file=sys.stderr)
        sys.exit(2)
    with quiet_end():
        if on_terminal():
            use_readline()
            print(f"输入一句话开始，/exit 离开。剧本认得的字样：{'、'.join(known_words())}")
        chat(typed_lines(), delay=0.03 if on_terminal() else 0.0)
