"""Saving: what is on the disk, and when; and what happens when it cannot be written."""

import errno
import json
import os
import stat
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.pairing import pairing_faults

from ..harness_types import Message, ToolCallContent, message_text, user_text
from ..sessions.folder import latest_session, resume_session, start_session
from ..sessions.pairing import INTERRUPTED, paired
from ..sessions.session import Session
from ..sessions.session_file import SessionBusyError
from ..sessions.wire import message_to_json
from .written import HEADER, HISTORIES, call, entry, result, wants, write_lines

SHORT: list[Message] = [user_text("你好"), wants(call("call_1")), result("call_1")]


def noon() -> datetime:
    return datetime(2026, 1, 1, 12, tzinfo=UTC)


def start(folder: Path) -> Session:
    return start_session(folder, new_id=map(str, count(1)).__next__, now=noon)


def session_file(folder: Path) -> Path:
    (path,) = (folder / ".sessions").iterdir()
    return path


def entries(path: Path) -> list[dict[str, object]]:
    """Return the entries of a file, without its header; each is a line of its own."""
    text = path.read_bytes().decode()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.removesuffix("\n").split("\n")][1:]


def resumed(path: Path) -> list[Message]:
    with closing(resume_session(path, path.parent)) as session:
        return session.history()


def test_each_message_is_a_line_that_names_the_one_before_it(tmp_path: Path) -> None:
    with closing(start(tmp_path)) as session:
        session.save(SHORT)
    path = session_file(tmp_path)
    assert path.name == "2026-01-01T12-00-00_1.jsonl"
    header = json.loads(path.read_bytes().split(b"\n")[0])
    time = "2026-01-01T12:00:00.000Z"
    assert header == {**HEADER, "id": "1", "timestamp": time, "cwd": str(tmp_path)}
    found = [(line["id"], line["parentId"], line["timestamp"]) for line in entries(path)]
    assert found == [("2", None, time), ("3", "2", time), ("4", "3", time)]
    assert resumed(path) == SHORT


def test_a_file_is_byte_for_byte_what_the_page_about_the_format_says(tmp_path: Path) -> None:
    with closing(start(tmp_path)) as session:
        session.save(SHORT)
    start_of_line = (
        '{{"type":"message","id":"{}","parentId":{},"timestamp":"2026-01-01T12:00:00.000Z",'
    )
    assert session_file(tmp_path).read_bytes().decode().split("\n") == [
        '{"type":"session","version":1,"id":"1","timestamp":"2026-01-01T12:00:00.000Z",'
        f'"cwd":{json.dumps(str(tmp_path))}}}',
        start_of_line.format(2, "null")
        + '"message":{"role":"user","content":[{"type":"text","text":"你好"}]}}',
        start_of_line.format(3, '"2"')
        + '"message":{"role":"assistant","content":[{"type":"toolCall","id":"call_1",'
        '"name":"calc","arguments":{"expression":"12*8"}}],"stopReason":"toolUse"}}',
        start_of_line.format(4, '"3"')
        + '"message":{"role":"toolResult","content":[{"type":"text","text":"96"}],'
        '"toolCallId":"call_1","toolName":"calc","isError":false}}',
        "",
    ]


def test_half_a_surrogate_pair_in_a_call_comes_back(tmp_path: Path) -> None:
    asked: list[Message] = [
        wants(ToolCallContent("call_1", "calc", {"expression": "1+1\ud800"})),
        result("call_1", "\udfff"),
    ]
    with closing(start(tmp_path)) as session:
        assert session.save(asked) is None
    assert resumed(session_file(tmp_path)) == asked


def test_nothing_is_on_the_disk_before_something_is_said(tmp_path: Path) -> None:
    with closing(start(tmp_path)) as session:
        session.save([])
        session.history()
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_what_was_saved_is_not_saved_again(tmp_path: Path) -> None:
    with closing(start(tmp_path)) as session:
        for length in range(1, len(SHORT) + 1):
            session.save(SHORT[:length])
            session.save(SHORT[:length])
            assert len(entries(session_file(tmp_path))) == length


def test_an_id_that_is_there_already_is_not_used_again(tmp_path: Path) -> None:
    session = Session(new_id=iter(["a", "a", "b", "b", "c"]).__next__)
    session.save(SHORT)
    assert list(session.tree.entries) == ["a", "b", "c"]


@given(HISTORIES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_every_history_comes_back_as_the_model_may_see_it(
    tmp_path: Path, messages: list[Message]
) -> None:
    file = tmp_path / "s.jsonl"
    write_lines(file, HEADER)
    with closing(resume_session(file, tmp_path)) as session:
        session.save(messages)
        stored = session.tree.messages()
    assert stored == messages
    assert len(file.read_bytes().split(b"\n")) == len(messages) + 2
    assert pairing_faults(resumed(file)) == []


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_a_file_that_ends_anywhere_loses_only_what_was_not_written_whole(
    tmp_path: Path, data: st.DataObject
) -> None:
    messages: list[Message] = [user_text("第一句"), wants(call("call_1")), result("call_1")]
    lines = [
        entry(f"{n + 1}", f"{n}" if n else None, message_to_json(messages[n])) for n in range(3)
    ]
    file = write_lines(tmp_path / "s.jsonl", HEADER, *lines)
    whole = file.read_bytes()
    first = whole.index(b"\n") + 1
    cut = data.draw(st.integers(first, len(whole)))
    file.write_bytes(whole[:cut])
    kept = resumed(file)
    # A line that only lacks its line feed can be read.
    assert kept == paired(messages[: whole[first : cut + 1].count(b"\n")])
    assert pairing_faults(kept) == []
    with closing(resume_session(file, tmp_path)) as session:
        session.save([*session.history(), user_text("more")])
    assert resumed(file) == [*kept, user_text("more")]
    assert file.read_bytes().startswith(whole[:cut])


def test_a_call_that_was_interrupted_is_answered_and_that_is_saved_with_what_comes_next(
    tmp_path: Path,
) -> None:
    with closing(start(tmp_path)) as session:
        session.save([user_text("算"), wants(call("call_1"), call("call_2")), result("call_1")])
    path = session_file(tmp_path)
    before = path.read_bytes()
    with closing(resume_session(path, tmp_path)) as session:
        history = session.history()
        assert [message_text(m) for m in history[2:]] == ["96", INTERRUPTED]
        assert pairing_faults(history) == []
        assert path.read_bytes() == before
        session.save([*history, user_text("还在吗")])
    assert path.read_bytes().startswith(before)
    assert [message_text(m) for m in resumed(path)[2:]] == ["96", INTERRUPTED, "还在吗"]
    assert len(entries(path)) == 5


def test_all_results_that_had_to_be_made_up_are_saved(tmp_path: Path) -> None:
    with closing(start(tmp_path)) as session:
        session.save([user_text("算"), wants(call("call_1"), call("call_2"))])
    path = session_file(tmp_path)
    with closing(resume_session(path, tmp_path)) as session:
        history = [*session.history(), user_text("还在吗")]
        session.save(history)
        assert session.tree.messages() == history


def test_a_branch_is_a_branch_after_the_next_start_too(tmp_path: Path) -> None:
    with closing(start(tmp_path)) as session:
        session.save(SHORT)
        session.tree.back(1)
        session.save([*session.history(), user_text("从头再来")])
    assert resumed(session_file(tmp_path)) == [user_text("从头再来")]
    assert len(entries(session_file(tmp_path))) == 4


def test_numbers_of_calls_go_on_behind_those_of_all_branches() -> None:
    session = Session()
    session.save([user_text("a"), wants(call("call_17")), result("call_17")])
    session.tree.back(1)
    session.save([*session.history(), user_text("b"), wants(call("call_2"), call("toolu_99"))])
    assert session.last_call_number() == 17
    assert Session().last_call_number() == 0


def test_only_the_owner_can_read_a_session(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(start(tmp_path)) as session:
            session.save(SHORT)
    finally:
        os.umask(before)
    path = session_file(tmp_path)
    modes = [stat.S_IMODE(place.stat().st_mode) for place in (path, path.parent)]
    assert modes == [0o600, 0o700] or sys.platform == "win32"


def test_a_second_process_is_kept_out_until_the_first_one_has_ended(tmp_path: Path) -> None:
    with closing(start(tmp_path)) as session:
        session.save(SHORT)
        path = session_file(tmp_path)
        before = path.read_bytes()
        with pytest.raises(SessionBusyError, match=f"另一个程序正在使用会话 {path.name}"):
            resume_session(path, tmp_path)
        with pytest.raises(SessionBusyError):
            latest_session(tmp_path)
        done = subprocess.run(
            [sys.executable, "-m", __package__.split(".")[0], "--session", str(path)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            stdin=subprocess.DEVNULL,
        )
        assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
        assert path.read_bytes() == before
    assert resumed(path) == SHORT


# When the disk does not want it.


LIMITED = """
import resource, sys
from pathlib import Path
from {package}.harness_types import user_text
from {package}.sessions.folder import start_session
session = start_session(Path.cwd())
messages = [user_text("a")]
print(session.save(messages))
(path,) = Path(".sessions").iterdir()
size = path.stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, resource.RLIM_INFINITY))
for text in ("b", "c"):
    messages.append(user_text(text))
    print(session.save(messages))
print(path.stat().st_size - size)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
messages.append(user_text("d"))
print(session.save(messages))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs the limits of POSIX")
def test_on_a_full_disk_it_goes_on_says_so_once_and_writes_the_rest_later(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(package=__package__.split(".")[0])],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    problem = "没能保存（No space left on device），对话可以继续，能写时会补上"
    assert done.stdout.splitlines() == ["None", problem, "None", "10", "None"]
    path = session_file(tmp_path)
    assert [message_text(message) for message in resumed(path)] == ["a", "b", "c", "d"]
    with closing(resume_session(path, tmp_path)) as session:
        assert "第 3 行读不懂，跳过了，还留在文件里" in session.notices


def test_where_nothing_can_be_written_it_says_so_once(tmp_path: Path) -> None:
    (tmp_path / ".sessions").write_text("a file stands where the folder should")
    with closing(start(tmp_path)) as session:
        problem = session.save(SHORT[:1])
        assert problem is not None
        assert problem.startswith("没能保存（")
        assert session.save(SHORT) is None
    (tmp_path / ".sessions").unlink()
    session.save(SHORT)
    session.close()
    assert resumed(session_file(tmp_path)) == SHORT


def test_an_entry_that_may_be_on_the_disk_is_written_again_and_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[Message] = []
    problems = []
    flush = os.fsync

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, "the disk is gone")

    with closing(start(tmp_path)) as session:
        for text, fsync in zip("abcde", [flush, fail, flush, fail, flush], strict=True):
            monkeypatch.setattr(os, "fsync", fsync)
            messages.append(user_text(text))
            problems.append(session.save(messages))
    told = "没能保存（the disk is gone），对话可以继续，能写时会补上"
    assert problems == [None, told, None, None, None]
    assert resumed(session_file(tmp_path)) == messages


def test_a_new_file_that_another_process_has_taken_is_told_like_a_full_disk(tmp_path: Path) -> None:
    with closing(start(tmp_path)) as first, closing(start(tmp_path)) as second:
        first.save(SHORT)
        problem = second.save(SHORT)
    assert problem is not None
    assert problem.startswith("没能保存（另一个程序正在使用会话 ")
    assert resumed(session_file(tmp_path)) == SHORT


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes all")
def test_what_can_only_be_read_can_be_gone_on_with_and_says_so_once(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "s.jsonl", HEADER, entry("1", None))
    path.chmod(0o400)
    before = path.read_bytes()
    with closing(resume_session(path, tmp_path)) as session:
        messages = [*session.history(), user_text("b")]
        problem = "没能保存（Permission denied），对话可以继续，能写时会补上"
        assert session.save(messages) == problem
        assert session.save([*messages, user_text("c")]) is None
    assert path.read_bytes() == before
