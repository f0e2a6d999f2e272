"""What is sent to a service is repaired first: one bad message would block all that follow."""

import json
import re
from collections.abc import Iterable

from ..harness_types import ContentBlock, Message
from ..sessions.pairing import paired
from ..sessions.wire import json_or_text

NOT_IN_A_NAME = re.compile("[^a-zA-Z0-9_-]")


def sendable(messages: Iterable[Message]) -> list[Message]:
    """Return the messages that a service takes: every call has its result, and none is empty.

    An answer that has failed is not sent.
    """
    good = (m for m in messages if m.role != "assistant" or m.stop_reason != "error")
    return [m for m in paired(good) if any(map(says, m.content)) or m.role == "toolResult"]


def says(block: ContentBlock) -> bool:
    """Return whether a block says something: a service refuses a text of nothing but blanks."""
    return block.type != "text" or bool(block.text.strip())


def sent_text(text: str) -> str:
    """Return text that can be encoded: half of a letter is joined to the other, or replaced."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def sent_name(name: str) -> str:
    """Return a name of a tool or an id as services allow it: the model may have made up another."""
    return NOT_IN_A_NAME.sub("_", name)[:64] or "_"


def sent_arguments(arguments: dict[str, object]) -> str:
    """Return the arguments of a call as JSON, whatever the model has put into them."""
    return sent_text(json.dumps(json_or_text(arguments), ensure_ascii=False))
