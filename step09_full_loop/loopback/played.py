"""The script of the fake model, played by the server in the wire format that it is asked in."""

from collections.abc import Sequence

from ..fake_model import FakeModel, Rule
from ..harness_types import Context, tool_calls_of
from .chat_wire import chat_messages, chat_stream
from .messages_wire import message_stream, messages_of
from .server import Reply, Respond

# What the path of a request ends with, and how that wire format is read and written.
WIRES = {
    "/chat/completions": (chat_messages, chat_stream),
    "/messages": (messages_of, message_stream),
}


def played_by(rules: Sequence[Rule]) -> Respond:
    """Return what answers requests as the fake model would, with these rules."""

    def respond(path: str, body: dict[str, object]) -> Reply:
        read, write = next(wire for end, wire in WIRES.items() if path.endswith(end))
        messages = list(read(body))
        calls = sum(len(tool_calls_of(m)) for m in messages if m.role == "assistant")
        return Reply(write(FakeModel(rules, calls_before=calls)(Context(messages))))

    return respond
