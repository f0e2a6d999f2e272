"""Which sessions a folder has, and which of them is gone on with."""

import os
import re
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from ..harness_types import message_text
from ..sessions.folder import latest_session, listed_sessions, resume_session, start_session
from ..sessions.session_file import SessionError
from ..sessions.wire import message_to_json
from .written import HEADER, call, entry, said, wants, write_lines


def put(folder: Path, name: str, age: int, *lines: object) -> Path:
    """Write a session file of the folder that changed `age` seconds ago."""
    (folder / ".sessions").mkdir(exist_ok=True)
    path = write_lines(folder / ".sessions" / f"{name}.jsonl", *lines)
    os.utime(path, (1_000_000 - age, 1_000_000 - age))
    return path


def good(text: str) -> Sequence[object]:
    return [HEADER, entry("1", None, said(text))]


def test_the_latest_session_is_the_one_that_changed_last(tmp_path: Path) -> None:
    put(tmp_path, "a", 10, *good("new"))
    put(tmp_path, "b", 20, *good("old"))
    with closing(latest_session(tmp_path)) as session:
        assert [message_text(message) for message in session.history()] == ["new"]
        assert session.notices == ["接着 a.jsonl：1 条消息"]


@pytest.mark.parametrize("bad", [[], ["garbage"], [HEADER], [{**HEADER, "version": 9}]], ids=str)
def test_one_that_is_no_good_is_left_out_and_named(tmp_path: Path, bad: list[object]) -> None:
    put(tmp_path, "good", 20, *good("old"))
    put(tmp_path, "bad", 10, *bad)
    with closing(latest_session(tmp_path)) as session:
        assert [message_text(message) for message in session.history()] == ["old"]
        assert session.notices[0].startswith("跳过了一个：会话 bad.jsonl")


def test_a_link_that_leads_nowhere_hides_no_session(tmp_path: Path) -> None:
    put(tmp_path, "good", 0, *good("old"))
    try:
        (tmp_path / ".sessions" / "bad.jsonl").symlink_to("nowhere")
    except OSError:
        pytest.skip("links are not allowed here")
    with closing(latest_session(tmp_path)) as session:
        assert session.notices[0].startswith("跳过了一个：没有会话文件 ")
    assert len(listed_sessions(tmp_path)) == 2


def test_where_there_is_none_to_go_on_with_nothing_is_begun(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="没有可以接着的会话"):
        latest_session(tmp_path)
    assert list(tmp_path.iterdir()) == []
    put(tmp_path, "bad", 0, "garbage")
    with pytest.raises(SessionError, match=r"跳过了一个：会话 bad\.jsonl .*；这个文件夹里没有"):
        latest_session(tmp_path)


def test_what_is_wrong_is_said_before_the_conversation_goes_on(tmp_path: Path) -> None:
    header = {**HEADER, "cwd": "/elsewhere\n"}
    calls = entry("2", "1", message_to_json(wants(call("call_1"), call("call_2"))))
    path = put(tmp_path, "s", 0, header, entry("1", None), "{torn", calls)
    with closing(resume_session(path, tmp_path)) as session:
        assert session.notices == [
            "接着 s.jsonl：4 条消息",
            "第 3 行读不懂，跳过了，还留在文件里",
            "有 2 次工具调用找不到结果，已按出错补上",
            rf"它开始于 /elsewhere\n，现在工具在 {tmp_path} 里工作",
        ]


def test_a_new_session_says_where_it_is_kept(tmp_path: Path) -> None:
    with closing(start_session(tmp_path)) as session:
        (notice,) = session.notices
    assert re.fullmatch(r"新会话，保存在 \.sessions/[\dT-]{19}_[0-9a-f]{8}\.jsonl", notice)


def test_the_list_shows_time_messages_and_first_words(tmp_path: Path) -> None:
    assert listed_sessions(tmp_path) == []
    put(tmp_path, "a", 10, *good("\x1b你" * 30))
    put(tmp_path, "b", 20, "garbage")
    put(tmp_path, "c", 30, HEADER)
    first, second, third = listed_sessions(tmp_path)
    assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d  \.sessions/a\.jsonl  1 条消息  \\x1b你", first)
    assert len(first) < 140
    assert "  .sessions/b.jsonl  （会话 b.jsonl 用不了：第一行不是会话头" in second
    assert third.endswith("  .sessions/c.jsonl  0 条消息")
