"""The tasks of step07, as a reader has done them. The working directory is the root."""

import importlib
import json
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any

from shared.watching import Run, watch_chat

from ..breaks import pinned_run
from ..conversation import play_demo
from ..language import say
from ..my_output import check_my_output
from ..script_rules import changed_rule, runs
from ..unasked import unasked_change
from ..verdict import Verdict, differs, done, not_yet, settled
from .loaded import OTHER_TOOL, Extension, loaded

HERE = Path(__file__).parent
# What the tasks of this step ask a reader to change. It is judged by what it does.
ASKED = ("agent_loop.all_answered", "agent_loop.run_agent_loop")
CALCULATE = "帮我算 12*8"
TEXTS = ["hello", "", "你好，世界", "a b\n c"]
HIDDEN = [".env", "conf/.env", "./a/.netrc", ".a.txt"]
VISIBLE = ["note.txt", "conf/a.env", "a.b.txt"]
KEYS = "key=sk-abc123，sk-Z9\nsk- 不是密钥，ask 也不是；sk-a_b，sk-1中"
MASKED = "key=sk-***，sk-***\nsk- 不是密钥，ask 也不是；sk-***_b，sk-***中"
PASSED, FAILED = "print('3 passed')\n", "print('1 failed')\nraise SystemExit(1)\n"


def task1(package: str) -> Verdict:
    """Run the demo and compare."""
    return check_my_output(package, pinned_run(HERE, "demo").transcript)


@settled
def task2(package: str) -> Verdict:
    """Leave the open calls open."""
    return (
        runs(package)
        or left_open_verdict(package)
        or all_else(package)
        or done(say("whoever leaves a run early leaves its call open, and a cancel does not"))
    )


@settled
def task3(package: str) -> Verdict:
    """Write an extension: a tool, a rule about files, and no keys for the model."""
    return (
        runs(package)
        or own_extension_verdict(loaded(package, "my_extension.py"))
        or all_else(package)
        or answered_again(package)
        or done(say("the extension counts, forbids and hides, and leaves all else alone"))
    )


@settled
def task4(package: str) -> Verdict:
    """Repair an extension that cannot be stopped."""
    return (
        runs(package)
        or repaired_verdict(loaded(package, "run_tests.py"))
        or all_else(package)
        or answered_again(package)
        or done(say("it stops when it is asked to, and nothing lives on behind it"))
    )


@contextmanager
def empty_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        yield Path(place).resolve()


def all_else(package: str) -> Verdict | None:
    """Return what was changed although no task asks for it, and what that does."""
    known = pinned_run(HERE, "demo").transcript
    seen = play_demo(package)
    if found := unasked_change(package, ASKED) or changed_rule(package, HERE):
        return found
    if seen != known:
        return differs(say("the demo is not what it should be"), say("the demo"), known, seen)
    return None


def left(package: str) -> Run:
    """Say something, leave that run when its tool is about to run, and say something else."""
    main: Any = importlib.import_module(f"{package}.main")
    render = main.render_events
    runs = 0

    async def until_tool_call(events: AsyncGenerator[Any, None]) -> AsyncGenerator[Any, None]:
        async with aclosing(events):
            async for event in events:
                yield event
                if event.type == "tool_call":
                    return

    async def rendered(events: AsyncGenerator[Any, None]) -> None:
        nonlocal runs
        runs += 1
        await render(until_tool_call(events) if runs == 1 else events)

    main.render_events = rendered
    try:
        return watch_chat(package, [CALCULATE, "你好"])
    finally:
        main.render_events = render


def left_open_verdict(package: str) -> Verdict | None:
    run = left(package)
    if run.faults == ["call call_1 has no result"]:
        return None
    return not_yet(
        say("a call is still answered when the listener leaves"),
        where=say("the messages behind the call"),
        expected='user "你好"',
        seen=run.history.splitlines()[2],
        guess=say("in agent_loop.py, all_answered still answers, or something else does"),
    )


def answered_again(package: str) -> Verdict | None:
    run = left(package)
    if not run.faults:
        return None
    return not_yet(
        say("whoever leaves a run early leaves a call without a result"),
        guess=say("that was the change of task 2; make reset STEP=07 restores the step"),
    )


def own_extension_verdict(extension: Extension) -> Verdict | None:
    with empty_folder() as folder:
        (folder / "conf").mkdir()
        (folder / "a").mkdir()
        for name in HIDDEN + VISIBLE:
            (folder / name).write_text(KEYS, encoding="utf-8", newline="\n")
        return (
            count_verdict(extension, folder)
            or hidden_verdict(extension, folder)
            or others_pass(extension, folder)
            or keys_verdict(extension, folder)
        )


def count_verdict(extension: Extension, folder: Path) -> Verdict | None:
    if "count_letters" not in extension.tools.names():
        return not_yet(say("the extension adds no tool count_letters"))
    calls: list[Call] = [
        ("count_letters", {"text": text}, (str(len(text)), False)) for text in TEXTS
    ]
    if found := first_wrong(extension, folder, *calls):
        return found
    unfit: list[dict[str, object]] = [{}, {"text": 5}]
    for arguments in unfit:
        seen = extension.call("count_letters", arguments, folder)
        if not seen[0].startswith("参数校验失败"):
            return not_yet(
                say("count_letters runs with arguments that it should not get"),
                where=f"count_letters {compact(arguments)}",
                expected="参数校验失败：…（出错）",
                seen=in_words(seen),
                guess=say("text is a string, and required: that belongs in the schema"),
            )
    return None


def hidden_verdict(extension: Extension, folder: Path) -> Verdict | None:
    for path in HIDDEN:
        text, is_error = extension.call("read_file", {"path": path}, folder)
        if not is_error or "sk-" in text:
            return not_yet(
                say("a file whose name begins with a dot can still be read"),
                where=f"read_file {path}",
                expected=say("an error with a reason"),
                seen=in_words((text, is_error)),
            )
        if "before_tool_call 出错" in text:
            return not_yet(say("the rule fails, and does not decide"), guess=text)
        if Path(path).name not in text:
            return not_yet(
                say("the reason does not name the file"),
                where=f"read_file {path}",
                expected=f"… {Path(path).name} …",
                seen=in_words((text, is_error)),
            )
    return None


def others_pass(extension: Extension, folder: Path) -> Verdict | None:
    """Make calls that the rule has nothing to say about."""
    for path in VISIBLE:
        seen = extension.call("read_file", {"path": path}, folder)
        if seen[1]:
            return wrong_result("read_file", {"path": path}, (MASKED, False), seen)
    return first_wrong(
        extension,
        folder,
        ("calc", {"expression": "12*8"}, ("96", False)),
        ("count_letters", {"text": ".env"}, ("4", False)),
        (OTHER_TOOL, {"path": ".env"}, ("ok", False)),
    )


def keys_verdict(extension: Extension, folder: Path) -> Verdict | None:
    return first_wrong(
        extension,
        folder,
        ("read_file", {"path": "note.txt"}, (MASKED, False)),
        ("calc", {"expression": "sk-abc123 + 1"}, ("无法解析表达式：sk-*** + 1", True)),
    )


def repaired_verdict(extension: Extension) -> Verdict | None:
    with empty_folder() as folder:
        return (
            rule_verdict(extension, folder)
            or works_as_before(extension, folder)
            or stopped_verdict(extension, folder, leave=False)
            or stopped_verdict(extension, folder, leave=True)
        )


def rule_verdict(extension: Extension, folder: Path) -> Verdict | None:
    (folder / "note.txt").write_text("curl", "utf-8")
    return first_wrong(
        extension,
        folder,
        ("calc", {"expression": "12*8"}, ("96", False)),
        ("read_file", {"path": "note.txt"}, ("curl", False)),
        (OTHER_TOOL, {"command": "curl"}, ("ok", False)),
        ("run_command", {"command": "echo curl"}, ("测试不许上网", True)),
        ("run_command", {"command": "echo hello"}, ("hello\n（退出码 0）", False)),
    )


def works_as_before(extension: Extension, folder: Path) -> Verdict | None:
    if "run_tests" not in extension.tools.names():
        return not_yet(say("the extension adds no tool run_tests any more"))
    for source, words, is_error in (
        (PASSED, ("3 passed", "（退出码 0）"), False),
        (FAILED, ("1 failed", "（退出码 1）"), True),
    ):
        (folder / "tests.py").write_text(source, "utf-8")
        seen = extension.call("run_tests", {}, folder)
        if seen[1] != is_error or not all(word in seen[0] for word in words):
            return wrong_result("run_tests", {}, ("\n".join(words), is_error), seen)
    return None


def stopped_verdict(extension: Extension, folder: Path, *, leave: bool) -> Verdict | None:
    """Stop it in the middle: it has to end in time, with all that it has started."""
    stopped = extension.stopped("run_tests", folder, leave=leave)
    if not stopped.started:
        return not_yet(say("run_tests does not wait for a tests.py that takes long"))
    how = say("the task was cancelled") if leave else say("the run was cancelled")
    if "没有停下来" in stopped.text:
        return not_yet(
            say("run_tests does not end by itself when the run is cancelled"),
            where="run_tests",
            expected=say("a result, at once"),
            seen=stopped.text,
            guess=say("wait for context.cancel too, and let CancelledError through"),
        )
    if stopped.left:
        return not_yet(
            say("{how}, and something lives on", how=how),
            where=say("what lives on"),
            expected=say("(nothing)"),
            seen=", ".join(stopped.left),
            guess=say("kill the whole group of processes, in a `finally`"),
        )
    return None


Call = tuple[str, dict[str, object], tuple[str, bool]]


def first_wrong(extension: Extension, folder: Path, *calls: Call) -> Verdict | None:
    """Make some calls, and tell which has another result than it should have."""
    for name, arguments, wanted in calls:
        seen = extension.call(name, arguments, folder)
        if seen != wanted:
            return wrong_result(name, arguments, wanted, seen)
    return None


def wrong_result(
    name: str, arguments: dict[str, object], wanted: tuple[str, bool], seen: tuple[str, bool]
) -> Verdict:
    guess = ""
    if "before_tool_call 出错" in seen[0]:
        guess = say("the rule fails at a call that it should have no opinion about")
    elif wanted[0] == seen[0]:
        guess = say("the text is right, but whether it is an error is not")
    return not_yet(
        say("{call} has another result than it should have", call=name),
        where=f"{name} {compact(arguments)}",
        expected=in_words(wanted),
        seen=in_words(seen),
        guess=guess,
    )


def compact(arguments: dict[str, object]) -> str:
    return json.dumps(arguments, ensure_ascii=False)


def in_words(result: tuple[str, bool]) -> str:
    """Return a result as the screen shows it."""
    text, is_error = result
    return f"{text}{'（出错）' if is_error else ''}"
