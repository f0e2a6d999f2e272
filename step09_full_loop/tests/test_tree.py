"""The tree of a session: branches, going back, and how people see it."""

import pytest

from ..harness_types import AssistantMessage, Message, TextContent, message_text, user_text
from ..sessions.session import Session
from ..sessions.tree import Entry, SessionTree
from ..sessions.tree_lines import tree_lines


def talk(*texts: str) -> Session:
    """Let the user say `texts`, each answered by its own echo; `<2` goes back two."""
    session = Session()
    messages: list[Message] = []
    for text in texts:
        if text.startswith("<"):
            session.tree.back(int(text[1:]))
            messages = session.history()
        else:
            messages += [user_text(text), AssistantMessage([TextContent(f"{text}!")], "stop")]
            assert session.save(messages) is None
    return session


def history(session: Session) -> list[str]:
    return [message_text(message) for message in session.history()]


def test_what_is_said_follows_what_was_said_before() -> None:
    assert history(talk("a", "b")) == ["a", "a!", "b", "b!"]


def test_going_back_begins_a_branch_and_loses_nothing() -> None:
    session = talk("a", "b", "c", "<2", "d")
    assert history(session) == ["a", "a!", "d", "d!"]
    said = [message_text(e.message) for e in session.tree.entries.values() if e.message]
    assert said == ["a", "a!", "b", "b!", "c", "c!", "d", "d!"]


def test_one_can_go_back_to_before_the_first_word() -> None:
    session = talk("a", "b", "<2")
    assert (session.history(), session.tree.leaf) == ([], None)


@pytest.mark.parametrize("count", [0, -1, 3])
def test_one_cannot_go_back_further_than_there_is(count: int) -> None:
    session = talk("a", "b")
    with pytest.raises(ValueError, match="2"):
        session.tree.back(count)
    assert history(session) == ["a", "a!", "b", "b!"]


def test_going_back_returns_what_was_said_there() -> None:
    entry = talk("a", "b").tree.back(1)
    assert entry.message == user_text("b")


def test_a_conversation_without_branches_is_a_list() -> None:
    assert tree_lines(talk("a", "b").tree) == ["● a（/back 2）", "● b（/back 1）"]
    assert tree_lines(SessionTree()) == []


def test_branches_are_drawn_and_the_current_one_is_marked() -> None:
    assert tree_lines(talk("a", "b", "c", "<2", "d", "e", "<1", "f").tree) == [
        "● a（/back 3）",
        "├─ ○ b",
        "│  ○ c",
        "└─ ● d（/back 2）",
        "   ├─ ○ e",
        "   └─ ● f（/back 1）",
    ]


def test_several_beginnings_are_branches_too() -> None:
    assert tree_lines(talk("a", "<1", "b").tree) == ["├─ ○ a", "└─ ● b（/back 1）"]


def test_a_long_or_hostile_sentence_is_one_short_line() -> None:
    (line,) = tree_lines(talk("\x1b[2J\n" + "长" * 100).tree)
    assert line.startswith(r"● \x1b[2J\n长")
    assert len(line) < 60


def test_an_entry_of_another_kind_is_passed_through() -> None:
    tree = SessionTree()
    tree.add(Entry("1", None, user_text("a")))
    tree.add(Entry("2", "1", None))
    tree.add(Entry("3", "2", user_text("b")))
    assert tree.messages() == [user_text("a"), user_text("b")]
    assert tree_lines(tree) == ["● a（/back 2）", "● b（/back 1）"]
