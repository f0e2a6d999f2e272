"""The entries of a session as a tree. Going back and saying something else makes a branch."""

from dataclasses import dataclass

from ..harness_types import Message


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. `message` is None if it is of a kind that this program does not know."""

    id: str
    parent_id: str | None
    message: Message | None


class SessionTree:
    """All entries, each behind its parent. The next one goes behind `leaf`; None is no entry."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.leaf: str | None = None

    def add(self, entry: Entry) -> None:
        """Put an entry behind its parent, which must be here already, and make it the leaf.

        So there are no circles.
        """
        self.entries[entry.id] = entry
        self.leaf = entry.id

    def path(self) -> list[Entry]:
        """Return the entries from the first one to the leaf: the current branch."""
        path = []
        next_id = self.leaf
        while next_id is not None:
            path.append(self.entries[next_id])
            next_id = path[-1].parent_id
        return path[::-1]

    def messages(self) -> list[Message]:
        """Return the messages of the current branch."""
        return [entry.message for entry in self.path() if entry.message is not None]

    def sentences(self) -> list[Entry]:
        """Return the entries of the current branch that hold what the user said."""
        return [entry for entry in self.path() if is_sentence(entry)]

    def back(self, count: int) -> Entry:
        """Go back to before the last `count` things the user said; return the first of these.

        ValueError if there are not so many, or if `count` is not positive.
        """
        sentences = self.sentences()
        if not 0 < count <= len(sentences):
            raise ValueError(f"there are {len(sentences)} sentences")
        self.leaf = sentences[-count].parent_id
        return sentences[-count]


def is_sentence(entry: Entry) -> bool:
    return entry.message is not None and entry.message.role == "user"
