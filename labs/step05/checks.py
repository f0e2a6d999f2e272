"""The tasks of step05, as a reader has done them. The working directory is the root."""

import asyncio
import importlib
import tempfile
from pathlib import Path
from typing import Any, get_type_hints

from shared.watching import watch_chat

from ..breaks import pinned_run
from ..my_output import check_my_output
from ..scenes import FALLBACK, changed_scene
from ..taken_out import check_taken_out
from ..verdict import Verdict, differs, done, not_yet

HERE = Path(__file__).parent
DEMO = pinned_run(HERE, "demo")


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
    tool_types = importlib.import_module(f"{package}.tools.tool_types")
    validate_module = importlib.import_module(f"{package}.tools.validate")
    if "enum" not in get_type_hints(tool_types.PropertySchema):
        refuses = errors_of(validate_module, "e", {"type": "string", "enum": ["a"]}, "b")
        if refuses:
            return not_yet(
                "validate knows enum, the type PropertySchema does not: mypy refuses the enum",
                guess="in tools/tool_types.py, beside description: enum: NotRequired[list[str]]",
            )
        return not_yet("neither PropertySchema nor validate knows enum yet")
    if "enum" in getattr(tool_types.PropertySchema, "__required_keys__", ()):
        return not_yet(
            "enum is required now: every parameter without one has become a type error",
            guess="wrap it: NotRequired[list[str]]",
        )
    wrong = enum_verdict(validate_module) or op_verdict(package) or changed_scene(package, DEMO)
    return wrong or done("a value outside the enum is refused by name, the rest is as before")


def enum_verdict(validate_module: Any) -> Verdict | None:
    """Try validate on enums that the worksheet does not show."""
    levels = {"type": "string", "enum": ["low", "high"]}
    for value, refused in (("low", 0), ("high", 0), ("mid", 1), ("LOW", 1), ("", 1), ("lo", 1)):
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
    if not op.get("enum"):
        return not_yet("calc has no parameter op with an enum", guess="add it in tools/calc.py")
    if "op" in calc.parameters.get("required", []):
        return not_yet("op is required: every call that worked before is refused now")
    first = op["enum"][0]
    good = run_tool(package, "calc", {"expression": "12*8", "op": first})
    if good.is_error:
        return not_yet(f"calc refuses op={first!r}, the first of its enum: {good.content}")
    bad = run_tool(package, "calc", {"expression": "12*8", "op": f"{first}?"})
    if not bad.is_error or not bad.content.startswith("参数校验失败"):
        return not_yet(f"calc takes op='{first}?', which is not in its enum")
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
        return not_yet("no tool list_files is registered", guess="see create_builtin_tools")
    names = [n for n, p in tool.parameters["properties"].items() if p["type"] == "string"]
    if len(names) != 1:
        return not_yet("list_files should take one string parameter: the folder to list")
    with tempfile.TemporaryDirectory() as folder:
        wrong = list_files_verdict(package, names[0], Path(folder)) or changed_scene(package, DEMO)
    return wrong or done("list_files lists the inside, refuses the outside, and can be talked to")


def list_files_verdict(package: str, parameter: str, folder: Path) -> Verdict | None:
    """Try list_files on a folder with neighbours."""
    work = folder / "work"
    (work / "inner").mkdir(parents=True)
    (work / "apple.txt").touch()
    (work / "inner" / "pear.txt").touch()
    (folder / "work-secret").mkdir()
    (folder / "work-secret" / "secret.txt").touch()

    def listed(path: str) -> Any:
        return run_tool(package, "list_files", {parameter: path}, work)

    for path, wanted in ((".", ["apple.txt", "inner"]), ("inner", ["pear.txt"])):
        answer = listed(path)
        missing = [name for name in wanted if name not in answer.content]
        if answer.is_error or missing:
            return Verdict(
                False,
                f"list_files on {path!r} does not list it",
                "its result",
                " ".join(wanted),
                answer.content,
            )
    outside = ["..", "../work-secret", "inner/../..", str(folder)]
    try:
        (work / "door").symlink_to("..")
        outside.append("door")
    except OSError:
        pass  # Windows lets not everybody make links.
    for path in outside:
        answer = listed(path)
        if not answer.is_error or "secret" in answer.content.removeprefix(
            f"拒绝访问工作目录之外的路径：{path}"
        ):
            return Verdict(
                False,
                "list_files is a back door past the check of read_file",
                f"list_files {path!r}",
                f"拒绝访问工作目录之外的路径：{path}",
                answer.content,
                "ask resolve_inside of tools/read_file.py, and look at what it returns",
            )
    for path in ("missing", "apple.txt"):
        answer = listed(path)
        if not answer.is_error:
            return not_yet(f"list_files {path!r}, which is no folder, is not an error")
    return said_verdict(package, work)


def said_verdict(package: str, work: Path) -> Verdict | None:
    """Say 「列出文件」 to the step."""
    transcript = watch_chat(package, ["列出文件"], work).transcript
    if "[工具调用] list_files" not in transcript:
        return not_yet("「列出文件」 does not reach list_files", guess="add a rule in rules.py")
    if FALLBACK in transcript:
        return differs(
            "after list_files the fallback answers",
            "the last turn of 「列出文件」",
            "a rule that matches toolResult:list_files",
            FALLBACK,
            guess="two rules make two turns; and the fallback stays last",
        )
    return None
