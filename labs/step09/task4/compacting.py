"""A transform_context that keeps a long history short, which somebody sent us.

It works, as long as the history is short. Task 4 repairs it.
"""

from typing import Any


class Compacting:
    """Shows the model the last `most` messages."""

    def __init__(self, most: int = 20):
        self.most = most

    async def __call__(self, messages: Any) -> Any:
        while len(messages) > self.most:
            messages.pop(0)
        if messages[0].role == "assistant":
            del messages[0]
        return messages
