"""The tasks of step05, as a reader has done them. The working directory is the root."""

import asyncio
import contextlib
import importlib
import tempfile
from pathlib import Path
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

from shared.trace.recorder import record
from shared.watching import step_folder, watch_chat

from ..breaks import pinned_run
from ..my_output import check_my_output
from ..scenes import changed_scene
from ..taken_out import check_taken_out
from ..verdict import Verdict, done, not_yet

HERE = Path(__file__).parent
DEMO = pinned_run(HERE, "demo")
GUESS = "what worked before must go on as it did (put back what an earlier task took out, too)"
OUTSIDE = "marker-of-the-outside.txt"


def task1(package: str) -> Verdict:
    """Run the demo and compare."""
    return check_my_output(Path("labs/step05/my_output.txt"), DEMO.transcript, "05")


def task2(package: str) -> Verdict:
    """Take out the validation."""
    return check_taken_out(
        package,
        HERE,
        "no-validate",
        untouched="run_tool still asks validate before it runs a tool",
        seen="the wrong call still fails, but nothing in its result tells the model what to mend",
    )


def task3(package: str) -> Verdict:
    """Add enum to the schema type, to validate, and to a parameter `op` of calc."""
    schema_type = importlib.import_module(f"{package}.tools.tool_types").PropertySchema
    validate_module = importlib.import_module(f"{package}.tools.validate")
    words = get_type_hints(schema_type, include_extras=True)
    if "enum" not in words:
        refuses = errors_of(validate_module, "e", {"type": "string", "enum": ["a"]}, "b")
        if refuses:
            return not_yet(
                "validate knows enum, the type PropertySchema does not: mypy refuses the enum",
                guess="in tools/tool_types.py, beside description: enum: NotRequired[list[str]]",
            )
        return not_yet("neither PropertySchema nor validate knows enum yet")
    if get_origin(words["enum"]) is not NotRequired and schema_type.__total__:
        return not_yet(
            "enum is required now: every parameter without one has become a type error",
            guess="wrap it: NotRequired[list[str]]",
        )
    holds = get_type_hints(schema_type)["enum"]
    if get_args(holds) not in ((str,), (str, ...)):
        return not_yet(f"in PropertySchema an enum is {holds}, and not a list of strings")
    wrong = (
        enum_verdict(validate_module)
        or op_verdict(package)
        or changed_scene(package, DEMO, guess=GUESS)
    )
    return wrong or done("a value outside the enum is refused by name, the rest is as before")


VALUES = [
    ("low", 0),
    ("high", 0),
    ("mid", 1),
    ("LOW", 1),
    ("", 1),
    ("lo", 1),
    (" low", 1),
    ("low ", 1),
]


def enum_verdict(validate_module: Any) -> Verdict | None:
    """Try validate on enums that the worksheet does not show."""
    levels = {"type": "string", "enum": ["low", "high"]}
    for value, refused in VALUES:
        told = errors_of(validate_module, "level", levels, value)
        if len(told) != refused:
            return not_yet(
                f"enum [low, high] and the value {value!r}: {len(told)} errors, not {refused}",
                guess="compare with `in` on the list, after the type has been found right",
            )
        if told and not all(word in told[0] for word in ("level", "low", "high")):
            return Verdict(
                False,
                "the error does not say enough to do better",
                "the error for level='mid'",
                "it names the parameter and every allowed value",
                told[0],
            )
    for stranger in (1, True, None, ["low"]):
        told = errors_of(validate_module, "level", levels, stranger)
        if len(told) != 1 or "应为 string" not in told[0]:
            return not_yet(
                f"enum [low, high] and the value {stranger!r}: {told}",
                guess="a value of the wrong type has one error, that of its type",
            )
    level = {"type": "object", "properties": {"level": levels}, "required": ["name"]}
    told = list(validate_module.validate(level, {"level": "mid", "x": 1}).errors)
    if len(told) != 3:
        return not_yet(
            f"a missing, a wrong and an unknown parameter at once: {len(told)} errors, not 3",
            guess="append the new error to the others; all of them are told at once",
        )
    if errors_of(validate_module, "text", {"type": "string"}, "anything"):
        return not_yet("a string without an enum is refused", guess="an enum is optional")
    return None


def errors_of(validate_module: Any, name: str, schema: Any, value: object) -> list[str]:
    """Return the errors of one required parameter."""
    parameters = {"type": "object", "properties": {name: schema}, "required": [name]}
    return list(getattr(validate_module.validate(parameters, {name: value}), "errors", []))


def op_verdict(package: str) -> Verdict | None:
    """Try the parameter `op` of calc as the loop would."""
    calc = importlib.import_module(f"{package}.tools").create_builtin_tools().get("calc")
    op = calc.parameters["properties"].get("op", {})
    allowed = op.get("enum")
    if not allowed:
        return not_yet("calc has no parameter op with an enum", guess="add it in tools/calc.py")
    if not isinstance(allowed, list) or not all(isinstance(value, str) for value in allowed):
        return not_yet(f"the enum of op is {allowed!r}, and no list of strings")
    if "op" in calc.parameters.get("required", []):
        return not_yet("op is required: every call that worked before is refused now")
    # What op does is the reader's business; that an allowed value is let through is not.
    for value in allowed:
        answer = run_tool(package, "calc", {"expression": "12*8", "op": value})
        if answer.content.startswith(("参数校验失败", "工具执行失败")):
            return not_yet(f"calc with op={value!r}, which its enum allows: {answer.content}")
    bad = run_tool(package, "calc", {"expression": "12*8", "op": f"{allowed[0]}?"})
    if not bad.content.startswith("参数校验失败"):
        return not_yet(f"calc takes op='{allowed[0]}?', which is not in its enum")
    return None


def run_tool(package: str, name: str, arguments: dict[str, object], cwd: Path = HERE) -> Any:
    """Run one tool call through the gates of the step."""
    loop = importlib.import_module(f"{package}.agent_loop")
    types = importlib.import_module(f"{package}.harness_types")
    tool_types = importlib.import_module(f"{package}.tools.tool_types")
    tools = importlib.import_module(f"{package}.tools").create_builtin_tools()
    call = types.ToolCallContent("call_1", name, arguments)
    return asyncio.run(loop.run_tool(call, tools, tool_types.ToolContext(cwd=cwd)))


def task4(package: str) -> Verdict:
    """Add a tool list_files: registered, scripted, and kept inside the folder."""
    tools = importlib.import_module(f"{package}.tools").create_builtin_tools()
    tool = tools.get("list_files")
    if tool is None:
        written = (step_folder(package) / "tools" / "list_files.py").exists()
        found = "tools/list_files.py is there, but" if written else "there is no tool list_files:"
        return not_yet(
            f"{found} nothing of that name is registered",
            guess="create_builtin_tools in tools/__init__.py registers the tools",
        )
    if list(tool.parameters["properties"]) != ["path"]:
        return not_yet("list_files should take one parameter, path: the folder to list")
    with tempfile.TemporaryDirectory() as folder:
        wrong = list_files_verdict(package, Path(folder)) or changed_scene(
            package, DEMO, guess=GUESS
        )
    return wrong or done("list_files lists the inside, refuses the outside, and can be talked to")


def list_files_verdict(package: str, folder: Path) -> Verdict | None:
    """Try list_files on a folder with neighbours."""
    work = folder / "work"
    (work / "inner").mkdir(parents=True)
    (work / "inner" / "pear.txt").touch()
    (folder / "work-secret").mkdir()
    # Names that a rule may look for, and names that nobody inside should ever see.
    inside, outside = (
        ["apple.txt", "README.md", "note.txt", "你好.txt"],
        [folder, folder / "work-secret"],
    )
    for file in [*(work / name for name in inside), *(place / OUTSIDE for place in outside)]:
        file.touch()

    def listed(path: str) -> Any:
        return run_tool(package, "list_files", {"path": path}, work)

    for path, wanted in ((".", [*inside, "inner"]), ("inner", ["pear.txt"])):
        answer = listed(path)
        if answer.is_error or not all(name in answer.content for name in wanted):
            found = f"list_files on {path!r} does not list it"
            return Verdict(False, found, "its result", " ".join(wanted), answer.content)
    with contextlib.suppress(OSError):  # Windows lets not everybody make links.
        (work / "door").symlink_to("..")
    for path in (
        "..",
        "../work-secret",
        "inner/../..",
        str(folder),
        "door",
        "door/work-secret",
        ".",
    ):
        if wrong := back_door_verdict(path, listed(path), is_inside=path == "."):
            return wrong
    for path in ("missing", "apple.txt"):
        if not listed(path).is_error:
            return not_yet(f"list_files {path!r}, which is no folder, is not an error")
    return said_verdict(package, work)


def back_door_verdict(path: str, answer: Any, *, is_inside: bool) -> Verdict | None:
    """Return what is wrong with the answer for a path that leads out, or may do so by a link."""
    refusal = f"拒绝访问工作目录之外的路径：{path}"
    if OUTSIDE in answer.content:
        return Verdict(
            False,
            "list_files is a back door past the check of read_file",
            f"list_files {path!r}",
            "nothing of the outside" if is_inside else refusal,
            answer.content,
            "ask resolve_inside of tools/read_file.py, and look at what it returns",
        )
    if not is_inside and not answer.is_error:
        found = f"list_files {path!r} shows nothing of the outside, but is no error either"
        return not_yet(found, guess="a refusal is a ToolResult with is_error=True")
    return None


def said_verdict(package: str, work: Path) -> Verdict | None:
    """Say 「列出文件」 to the step, in a folder that holds names for which there are rules."""
    recording = record(package, "列出文件", str(work))
    asked = recording.asks
    called = next((m.detail for m in recording.moments if m.event == "tool_call"), "")
    if not called.endswith(" list_files"):
        return not_yet(
            "「列出文件」 does not reach list_files",
            guess=f"{asked[0].rule} answers it and calls {called or 'no tool'}",
        )
    transcript = watch_chat(package, ["列出文件"], work).transcript
    if "（出错）" in transcript or "apple.txt" not in transcript:
        lines = [line for line in transcript.splitlines() if line.startswith("[工具")]
        where, wanted = "its call and its result", 'the names in the working directory, path "."'
        found = "「列出文件」 does not list the working directory"
        return Verdict(False, found, where, wanted, " ".join(lines))
    if len(asked) != 2 or "toolResult:list_files" not in asked[1].rule:
        return not_yet(
            f"「列出文件」 takes {len(asked)} turns, and {asked[1].rule} answers the list of names",
            guess="the rule for the result stands before the rules that look for a name",
        )
    return None
