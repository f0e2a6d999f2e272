"""The conversation: what is answered, what is kept, and what is said first and last."""

import asyncio
import io
import locale
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from ..fake_model import FakeModel
from ..harness_types import Context, StreamEvent, StreamOptions, message_text
from ..main import chat, known_words, main
from ..sessions.folder import latest_session, start_session
from .fake_terminal import FakeTerminal

WORDS = [
    *("你好", "断线", "12*8", "除以零", "写错参数", "刚才", "天气", "删掉", "等一分钟", "倒数"),
    *("两趟车", "收工", "note.txt", "README.md", "etc/hosts"),
]
# The lines that stand first, on a terminal and on a pipe.
OPENING = ["可用工具：calc, read_file, run_command"]
COMMANDS = "/tree 看分支，/back N 退回 N 句话，从那里另说一句。Ctrl-C 打断回答。"
TYPING = "回答时也可以接着打字：那是插话，/follow 开头的留到最后再说。"
GOODBYE = "再见。（本次对话共 {} 条消息）\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a session that is kept be kept where no other test looks."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the model has waited between two pieces of its text; nobody waits for it here."""
    pauses: list[float] = []

    async def note(delay: float) -> None:
        pauses.append(delay)

    monkeypatch.setattr(asyncio, "sleep", note)
    return pauses


def test_a_conversation_answers_its_lines_until_exit(capsys: pytest.CaptureFixture[str]) -> None:
    context = chat(["", " ", "  你好 ", " /exit ", "你好"])
    assert [message.role for message in context.messages] == ["user", "assistant"]
    assert message_text(context.messages[0]) == "你好"
    assert capsys.readouterr().out.endswith(f"\n\n{GOODBYE.format(2)}")


def test_at_the_prompt_what_is_for_later_is_said_at_once() -> None:
    context = chat(["/follow 你好"])
    assert [message_text(message) for message in context.messages][:1] == ["你好"]


def test_a_conversation_without_exit_ends_with_its_last_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert chat([]).messages == []
    assert capsys.readouterr().out == GOODBYE.format(0)


def test_an_answer_that_breaks_off_is_kept_and_marked(capsys: pytest.CaptureFixture[str]) -> None:
    context = chat(["断线", "你好"])
    answers = [m for m in context.messages if m.role == "assistant"]
    assert [(m.stop_reason, m.error_message) for m in answers] == [
        ("error", "连接断了"),
        ("stop", None),
    ]
    assert "助手> 我正说到一半，\n[错误] 连接断了\n[第 1 轮结束]\n\n" in capsys.readouterr().out


def test_ctrl_c_is_a_polite_way_out(capsys: pytest.CaptureFixture[str]) -> None:
    def typed() -> Iterator[str]:
        yield "你好"
        raise KeyboardInterrupt

    assert len(chat(typed()).messages) == 2
    assert capsys.readouterr().out.endswith(f"\n\n\n{GOODBYE.format(2)}")


def test_a_conversation_waits_for_nothing_by_default(pauses: list[float]) -> None:
    chat(["你好"])
    assert pauses == []
    chat(["你好"], delay=60)
    assert set(pauses) == {60}


def test_the_script_knows_the_words_of_its_rules() -> None:
    assert known_words() == WORDS


@pytest.mark.skipif(not hasattr(locale, "nl_langinfo"), reason="needs the locales of POSIX")
def test_a_terminal_is_told_what_can_be_said_and_sees_the_model_type(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float]
) -> None:
    screen = FakeTerminal()
    monkeypatch.setattr(sys, "stdin", FakeTerminal("你好\n"))
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(locale, "nl_langinfo", lambda item: "UTF-8")
    pytest.importorskip("readline")
    monkeypatch.delitem(sys.modules, "readline")
    main([])
    first = f"输入一句话开始，/exit 离开。剧本认得的字样：{'、'.join(WORDS)}"
    shown = "".join(f"{line}\n" for line in [first, COMMANDS, TYPING, *OPENING])
    assert screen.getvalue().startswith(f"{shown}[会话] 新会话，保存在 .sessions/")
    assert "助手> 你好！" in screen.getvalue()
    assert "readline" in sys.modules
    assert set(pauses) == {0.03}


def test_a_pipe_gets_its_answers_at_once(
    monkeypatch: pytest.MonkeyPatch, pauses: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("你好\n/exit\n"))
    main([])
    shown = capsys.readouterr().out
    assert shown.startswith("".join(f"{line}\n" for line in OPENING))
    assert "\n你> 你好\n" in shown
    assert "助手> 你好！" in shown
    assert shown.endswith(f"\n\n你> /exit\n{GOODBYE.format(2)}")
    assert pauses == []


def test_a_pipe_is_utf8_whatever_the_locale_says(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.BytesIO()
    typed = io.BytesIO("\ufeff你好\n".encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed, encoding="ascii"))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
    main([])
    sys.stdout.flush()
    assert "你> 你好\n" in shown.getvalue().decode()


def test_an_argument_that_nobody_expects_is_refused_in_one_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--new\n", "x"])
    refusal = "参数不对：unrecognized arguments: --new\\n x（--help 看用法）\n"
    assert capsys.readouterr() == ("", refusal)


def test_the_specs_of_the_tools_are_in_the_context() -> None:
    assert [spec.name for spec in chat([]).tools] == ["calc", "read_file", "run_command"]


def test_the_tools_work_in_the_folder_they_are_given_or_else_in_the_current_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        folder.mkdir()
        (folder / "note.txt").write_text(folder.name, "utf-8")
    monkeypatch.chdir(here)
    assert message_text(chat(["note.txt"]).messages[2]) == "here"
    assert message_text(chat(["note.txt"], cwd=there).messages[2]) == "there"


# Sessions.


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def lines_on_disk() -> int:
    return sum(len(path.read_bytes().splitlines()) for path in Path(".sessions").glob("*"))


def test_a_second_start_answers_from_what_the_first_one_heard(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, "帮我算 12*8")
    main([])
    typed(monkeypatch, "刚才算的是多少", "12*8")
    main(["--continue"])
    shown = capsys.readouterr().out
    assert "助手> 刚才算的是 12*8，结果是 96。" in shown
    assert shown.endswith(GOODBYE.format(10))
    with closing(latest_session(Path.cwd())) as session:
        assert session.last_call_number() == 2


def test_a_session_can_be_named_and_one_that_is_no_good_is_refused_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed(monkeypatch, "你好")
    main([])
    (path,) = Path(".sessions").iterdir()
    typed(monkeypatch)
    main(["--session", str(path)])
    assert f"[会话] 接着 {path.name}：2 条消息\n" in capsys.readouterr().out
    Path("bad.jsonl").write_text("garbage")
    for arguments in (["--session", "bad.jsonl"], ["--session", "nothing"]):
        with pytest.raises(SystemExit, match="2"):
            main(arguments)
        said = capsys.readouterr()
        assert (said.out, said.err.count("\n")) == ("", 1)


def test_where_there_is_nothing_to_go_on_with_it_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--continue"])
    none = "这个文件夹里没有可以接着的会话，去掉 --continue 就开始一个新的\n"
    assert capsys.readouterr() == ("", none)


def test_nothing_is_kept_when_nobody_wants_that(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "你好")
    main(["--no-session"])
    assert not Path(".sessions").exists()


def test_where_nothing_can_be_kept_the_conversation_goes_on_and_says_so_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(".sessions").write_text("a file stands where the folder should")
    typed(monkeypatch, "12*8", "刚才算的是多少")
    main([])
    shown = capsys.readouterr().out
    assert shown.count("[会话] 没能保存（") == 1
    assert "助手> 刚才算的是 12*8，结果是 96。" in shown


def test_sessions_can_be_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--list"])
    assert capsys.readouterr().out == "这个文件夹里还没有会话。\n"
    typed(monkeypatch, "帮我算 12*8")
    main([])
    capsys.readouterr()
    main(["--list"])
    assert capsys.readouterr().out.endswith(".jsonl  4 条消息  帮我算 12*8\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--list", "--continue"],
        ["--session"],
        ["--cont"],
        ["--session=a", "--list"],
        ["--extension=nobody.py"],
    ],
)
def test_options_that_make_no_sense_are_refused_in_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n"), said.err[:5]) == ("", 1, "参数不对：")


def test_going_back_begins_a_branch_and_the_tree_shows_both(
    capsys: pytest.CaptureFixture[str],
) -> None:
    context = chat(["你好", "12*8", "/back 1", "你好吗", "/tree"])
    assert [message_text(m) for m in context.messages if m.role == "user"] == ["你好", "你好吗"]
    shown = capsys.readouterr().out
    assert "回到了「12*8」之前，接下来说的是新的分支。\n\n" in shown
    assert "● 你好（/back 2）\n├─ ○ 12*8\n└─ ● 你好吗（/back 1）\n\n" in shown


@pytest.mark.parametrize("command", ["/back", "/back x", "/back 0", "/back 2", "/back -1"])
def test_one_cannot_go_back_further_than_there_is(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(chat(["你好", command]).messages) == 2
    assert "退不了。这个分支上有 1 句话，写成 /back 1 这样的数字。\n" in capsys.readouterr().out


def test_a_tree_without_words_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    chat(["/tree"])
    assert "还什么都没有说过。\n" in capsys.readouterr().out


def test_a_message_is_on_the_disk_before_the_model_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[tuple[str, int]] = []

    class Watched(FakeModel):
        def __call__(
            self, context: Context, options: StreamOptions | None = None, /
        ) -> AsyncGenerator[StreamEvent, None]:
            seen.append((f"asked with {len(context.messages)}", lines_on_disk()))
            return super().__call__(context, options)

    def note(text: str = "", **options: object) -> None:
        if text.startswith("[工具"):
            seen.append((text[:6], lines_on_disk()))

    monkeypatch.setattr("builtins.print", note)
    monkeypatch.setattr(sys.modules[chat.__module__], "FakeModel", Watched)
    with closing(start_session(Path.cwd())) as session:
        chat(["12*8"], session=session)
    # The first line is the header.
    assert seen == [("asked with 1", 2), ("[工具调用]", 3), ("[工具结果]", 3), ("asked with 3", 4)]
    assert lines_on_disk() == 5
