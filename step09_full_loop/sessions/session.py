"""A session: the tree of a conversation in memory and, unless nobody wants one, its file."""

import json
import os
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from ..harness_types import Message, tool_calls_of
from .pairing import made_up, paired
from .reading import VERSION
from .session_file import SessionError, SessionFile
from .tree import Entry, SessionTree
from .wire import message_to_json


def random_id() -> str:
    return os.urandom(4).hex()


def utc_now() -> datetime:
    return datetime.now(UTC)


class Session:
    """What was said, and where the conversation stands.

    Whoever drives the agent loop calls `save` whenever the loop may have appended a message.
    `new_id` and `now` make the ids and the times of new entries.
    """

    def __init__(
        self,
        file: SessionFile | None = None,
        tree: SessionTree | None = None,
        *,
        new_id: Callable[[], str] = random_id,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.tree = SessionTree() if tree is None else tree
        self.notices: list[str] = []  # Sentences for the user, before the conversation begins.
        self._file, self._new_id, self._now = file, new_id, now
        self._saved = 0  # So many messages of the history are in the tree.
        self._unwritten: list[bytes] = []
        self._told = False

    def begin(self, session_id: str, cwd: Path) -> None:
        """Let the file begin with a header: a new session, in the folder `cwd`."""
        header = {"type": "session", "version": VERSION, "id": session_id}
        self._unwritten.append(line_of({**header, "timestamp": self._time(), "cwd": str(cwd)}))

    def history(self) -> list[Message]:
        """Return the messages of the current branch, every call with its result.

        A result that had to be made up at the end of it is saved together with what comes next.
        """
        stored = self.tree.messages()
        history = paired(stored)
        added = set(made_up(history, stored))
        self._saved = len(history)
        while self._saved - 1 in added:
            self._saved -= 1
        return history

    def save(self, messages: list[Message]) -> str | None:
        """Put what is new in `messages` on the disk, one entry a message, and return None.

        If that fails, the next call tries again. The first time, return a sentence for the user.
        """
        for message in messages[self._saved :]:
            self._enter("message", message, {"message": message_to_json(message)})
        self._saved = len(messages)
        return self._written()

    def last_call_number(self) -> int:
        """Return the highest number among the call ids of all branches, 0 if there is none."""
        messages = [entry.message for entry in self.tree.entries.values()]
        answers = [message for message in messages if message and message.role == "assistant"]
        return max((call_number(call.id) for a in answers for call in tool_calls_of(a)), default=0)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _enter(self, kind: str, message: Message | None, fields: Mapping[str, object]) -> None:
        """Let an entry follow what was said last. It is not on the disk yet."""
        new_id = self._new_id()
        while new_id in self.tree.entries:
            new_id = self._new_id()
        entry = Entry(new_id, self.tree.leaf, message)
        place = {"type": kind, "id": entry.id, "parentId": entry.parent_id}
        self.tree.add(entry)
        if self._file is not None:
            self._unwritten.append(line_of({**place, "timestamp": self._time(), **fields}))

    def _written(self) -> str | None:
        """Write the entries that are not on the disk yet. If that fails, say so once."""
        if self._file is None or not self.tree.entries:
            return None  # A header alone is no conversation.
        try:
            while self._unwritten:
                self._file.append(self._unwritten[0])
                del self._unwritten[0]
        except (OSError, SessionError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            told, self._told = self._told, True
            return None if told else f"没能保存（{reason}），对话可以继续，能写时会补上"
        return None

    def _time(self) -> str:
        return self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line_of(entry: Mapping[str, object]) -> bytes:
    """Return an entry as one line: JSON writes a line feed inside a text as an escape.

    Half of a surrogate pair cannot be UTF-8, so it is written as an escape too.
    """
    text = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
    return f"{text}\n".encode("utf-8", "backslashreplace")


def call_number(call_id: str) -> int:
    found = re.fullmatch(r"call_(\d{1,9})", call_id)
    return int(found[1]) if found else 0
