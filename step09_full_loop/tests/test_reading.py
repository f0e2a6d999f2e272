"""Reading a session file that somebody else has written, or damaged."""

import json
import os
import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ..harness_types import message_text, user_text
from ..sessions.folder import resume_session
from ..sessions.reading import Reading, read_session
from ..sessions.session_file import SessionError
from ..sessions.tree_lines import tree_lines
from ..sessions.wire import message_to_json
from .written import HEADER, USER, call, entry, result, said, wants, write_lines

FORMAT = Path(__file__).parents[1] / "SESSION_FORMAT.md"


@pytest.fixture
def file(tmp_path: Path) -> Callable[..., Path]:
    return lambda *lines: write_lines(tmp_path / "s.jsonl", *lines)


def texts(reading: Reading) -> list[str]:
    return [message_text(message) for message in reading.tree.messages()]


def test_the_lines_of_the_page_about_the_format_are_a_session(tmp_path: Path) -> None:
    found = re.search(r"```json\n(.*?)```", FORMAT.read_text("utf-8"), re.DOTALL)
    assert found is not None
    path = tmp_path / "s.jsonl"
    path.write_text(found[1], "utf-8")
    reading = read_session(path)
    assert (texts(reading), reading.cwd, reading.lost) == (["你好"], "/home/me/work", [])


def test_the_last_line_is_where_the_conversation_stands(file: Callable[..., Path]) -> None:
    path = file(HEADER, entry("1", None, said("a")), entry("2", "1", said("b")), entry("3", "1"))
    assert texts(read_session(path)) == ["a", "你好"]


def test_an_editor_may_have_left_a_mark_empty_lines_and_its_own_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    lines = [json.dumps(HEADER), "", json.dumps(entry("1", None)), " "]
    path.write_bytes(("\ufeff" + "\r\n".join(lines)).encode())
    reading = read_session(path)
    assert (texts(reading), reading.lost) == (["你好"], [])


def test_entries_of_another_kind_are_passed_through(file: Callable[..., Path]) -> None:
    label = entry("2", "1", type="label", label="here")
    path = file(HEADER, entry("1", None, said("a")), label, entry("3", "2", said("b")))
    before = path.read_bytes()
    reading = read_session(path)
    assert (texts(reading), reading.lost, path.read_bytes()) == (["a", "b"], [], before)


BAD_LINES = [
    "{bad",
    '{"half": ',
    "[]",
    "\x00" * 20,
    "9" * 5000,
    "[" * 20_000,
    '{"type":"message","id":"2","parentId":"1"}',
    '{"type":"message","id":2,"parentId":"1","message":{}}',
    '{"type":"message","id":"2","message":{"role":"user","content":[]}}',
    '{"type":"message","id":"2","parentId":"1","message":{"role":"user"}}',
]


@pytest.mark.parametrize("bad", BAD_LINES, ids=range(len(BAD_LINES)))
@pytest.mark.parametrize("parent", ["1", "2"], ids=["behind the good one", "behind the bad one"])
def test_a_line_that_cannot_be_read_takes_no_other_with_it(
    file: Callable[..., Path], bad: str, parent: str
) -> None:
    path = file(HEADER, entry("1", None, said("a")), bad, entry("3", parent, said("b")))
    reading = read_session(path)
    assert (texts(reading), reading.lost) == (["a", "b"], [3])


def test_bytes_that_are_no_text_are_a_bad_line_too(file: Callable[..., Path]) -> None:
    path = file(HEADER, entry("1", None))
    path.write_bytes(path.read_bytes() + b'{"type":"message","id":"\xe4\xbd')
    assert (texts(read_session(path)), read_session(path).lost) == (["你好"], [3])


def test_a_torn_line_with_empty_lines_behind_it_is_found(file: Callable[..., Path]) -> None:
    reading = read_session(file(HEADER, entry("1", None), '{"half', "", ""))
    assert (texts(reading), reading.lost) == (["你好"], [3])


def test_what_followed_a_lost_line_goes_on_where_that_line_stood(file: Callable[..., Path]) -> None:
    first, other = entry("1", None, said("a")), entry("3", "1", said("another branch"))
    path = file(HEADER, first, "{bad", other, entry("4", "2", said("b")))
    assert texts(read_session(path)) == ["a", "b"]


def test_an_answer_in_which_the_model_failed_does_not_spoil_what_follows(
    file: Callable[..., Path], tmp_path: Path
) -> None:
    failed = {**message_to_json(wants(call("call_1"))), "stopReason": "error"}
    answer = message_to_json(result("call_1"))
    path = file(HEADER, entry("1", None), entry("2", "1", failed), entry("3", "2", answer))
    with closing(resume_session(path, tmp_path)) as session:
        assert session.history() == [user_text("你好")]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_file_that_nobody_may_read_is_named(file: Callable[..., Path], tmp_path: Path) -> None:
    path = file(HEADER, entry("1", None))
    path.chmod(0)
    with pytest.raises(SessionError, match=r"会话 s\.jsonl 读不了：Permission denied"):
        resume_session(path, tmp_path)


def test_twenty_thousand_messages_are_no_deep_matter(tmp_path: Path) -> None:
    message = json.dumps(USER)
    lines = [json.dumps(HEADER)]
    for number in range(20_000):
        parent = f'"{number - 1}"' if number else "null"
        lines.append(
            f'{{"type":"message","id":"{number}","parentId":{parent},"message":{message}}}'
        )
    tree = read_session(write_lines(tmp_path / "s.jsonl", *lines)).tree
    assert len(tree.messages()) == len(tree_lines(tree)) == 20_000


def test_the_same_entry_twice_is_one(file: Callable[..., Path]) -> None:
    path = file(HEADER, entry("1", None), entry("2", "1"), entry("2", "1"))
    assert texts(read_session(path)) == ["你好", "你好"]


REFUSED = {
    "empty": ([], "第一行不是会话头"),
    "no header": ([entry("1", None)], "第一行不是会话头"),
    "half a header": (['{"type":"session","version":1,"id'], "第一行不是会话头"),
    "no JSON": (["hello"], "第一行不是会话头"),
    "version missing": ([{"type": "session"}], "第一行不是会话头"),
    "newer": ([{**HEADER, "version": 2}], "它的版本是 2，这里只认得版本 1"),
    "parent missing": (
        [HEADER, entry("1", None), entry("2", "9")],
        "第 3 行的 parentId 指向不存在",
    ),
    "itself": ([HEADER, entry("1", "1")], "第 2 行的 parentId 成环或乱序"),
    "circle": (
        [HEADER, entry("1", "2"), entry("2", "1")],
        "第 2 行的 parentId 成环或乱序",
    ),
    "used id": ([HEADER, entry("1", None), entry("1", None, said("b"))], "第 3 行的 id 1 已经用过"),
}


@pytest.mark.parametrize(("lines", "reason"), REFUSED.values(), ids=list(REFUSED))
def test_a_file_that_makes_no_sense_is_refused_in_a_line_and_left_alone(
    file: Callable[..., Path], lines: list[object], reason: str, tmp_path: Path
) -> None:
    path = file(*lines)
    before = path.read_bytes()
    with pytest.raises(SessionError, match=reason) as refused:
        resume_session(path, tmp_path)
    assert "\n" not in str(refused.value)
    assert path.read_bytes() == before


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, Path("/dev/zero"), tmp_path / "nothing", tmp_path / "\0"):
        with pytest.raises(SessionError, match=r"会话文件"):
            resume_session(path, tmp_path)
    assert list(tmp_path.iterdir()) == []
