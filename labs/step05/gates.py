"""What stands between the model and a tool in step05: run_tool, validate, and calc behind them.

The tools here only note what they get. They bear the names of the real ones too: a gate that makes
an exception of one of them is found.
"""

import asyncio
import copy
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from shared.child import explained

from ..language import say
from ..verdict import FoundError, Verdict, not_yet

RUNNER = asyncio.Runner()  # One event loop for hundreds of calls.
NAMES = ("probe", "calc", "read_file", "list_files")
PARAMETERS = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "description": "一段文字"},
        "count": {"type": "number"},
        "on": {"type": "boolean"},
    },
    "required": ["text"],
}
# What a model may send, and what is wrong with it.
GOOD: list[Any] = [{"text": "x"}, {"text": "", "count": 1.5, "on": False}]
BAD: list[tuple[Any, list[str]]] = [
    ({}, ["缺少必填参数 text"]),
    ({"expr": "1+1"}, ["缺少必填参数 text", "不认识的参数 expr"]),
    ({"text": 1}, ["参数 text 应为 string，实际是 number"]),
    ({"text": None}, ["参数 text 应为 string，实际是 null"]),
    ({"text": ["x"]}, ["参数 text 应为 string，实际是 array"]),
    ({"text": {}}, ["参数 text 应为 string，实际是 object"]),
    ({"text": "x", "count": "3"}, ["参数 count 应为 number，实际是 string"]),
    ({"text": "x", "count": True}, ["参数 count 应为 number，实际是 boolean"]),
    ({"text": "x", "on": 1}, ["参数 on 应为 boolean，实际是 number"]),
    (
        {"more": 1, "on": "yes", "count": "3"},
        [
            "缺少必填参数 text",
            "参数 count 应为 number，实际是 string",
            "参数 on 应为 boolean，实际是 string",
            "不认识的参数 more",
        ],
    ),
    (
        {"text": "x"} | dict.fromkeys("abcdefg", 1),
        [*(f"不认识的参数 {name}" for name in "abcde"), "另有 2 个不认识的参数"],
    ),
    ([], ["参数必须是一个对象"]),
    ("text", ["参数必须是一个对象"]),
]
# Schemas that validate cannot check, and that a registry refuses.
BAD_SCHEMAS: list[Any] = [
    {"type": "array"},
    {"type": "object", "properties": {"text": {"type": "integer"}}},
    {"type": "object", "properties": {"text": {}}},
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["more"]},
]
CALC = {
    "12*8": "96",
    "100-1": "99",
    "7+5": "12",
    "0.1+0.2": "0.3",
    "10/4": "2.5",
    "-3*-4": "12",
    "5*0": "0",
    "5-5": "0",
    "0+5": "5",
    "1/0": "除数不能为 0（出错）",
    "12 times 8": "无法解析表达式：12 times 8（出错）",
    "": "无法解析表达式：（出错）",
}


class Step:
    """The modules of a step that runs its tools through gates."""

    def __init__(self, package: str) -> None:
        self.loop = importlib.import_module(f"{package}.agent_loop")
        self.types = importlib.import_module(f"{package}.harness_types")
        self.tools = importlib.import_module(f"{package}.tools")
        self.tool_types = importlib.import_module(f"{package}.tools.tool_types")
        self.registry = importlib.import_module(f"{package}.tools.registry")
        self.validate = importlib.import_module(f"{package}.tools.validate").validate

    def call(self, name: str, arguments: object, cwd: Path, tools: Any = None) -> str:
        """Run a tool call through the gates; return its result as people see it."""
        tools = tools or self.tools.create_builtin_tools()
        call = self.types.ToolCallContent("call_1", name, arguments)
        context = self.tool_types.ToolContext(cwd=cwd)
        try:
            result = RUNNER.run(self.loop.run_tool(call, tools, context))
        except (Exception, asyncio.CancelledError) as error:
            return f"{type(error).__name__}: {error}"
        if not isinstance(result, self.tool_types.ToolResult):
            return repr(result)
        return f"{result.content}{'（出错）' if result.is_error else ''}"

    def probes(self, got: list[Any]) -> Any:
        """Return a registry of tools that note in `got` what they get."""

        async def note(arguments: Any, context: Any) -> Any:
            got.append(arguments)
            return self.tool_types.ToolResult("好")

        async def fail(arguments: Any, context: Any) -> Any:
            raise ValueError("坏了")

        async def cancel(arguments: Any, context: Any) -> Any:
            raise asyncio.CancelledError

        async def only_text(arguments: Any, context: Any) -> Any:
            return "文字"

        async def bad_news(arguments: Any, context: Any) -> Any:
            return self.tool_types.ToolResult("没有", is_error=True)

        registry = self.registry.ToolRegistry()
        tools = dict.fromkeys(NAMES, note) | {
            "fail": fail,
            "cancel": cancel,
            "only_text": only_text,
            "bad_news": bad_news,
        }
        for name, execute in tools.items():
            registry.register(self.tool_types.ToolDefinition(name, "", PARAMETERS, execute))
        return registry


def first_gate_stands(package: str) -> bool:
    """Return whether validate still decides, for every tool, whether it runs."""
    return next(first_gate_faults(Step(package), checked=True), None) is None


def gates_verdict(package: str, *, checked: bool) -> Verdict | None:
    """Return what is wrong with run_tool; `checked` tells whether it should ask validate."""
    step = Step(package)
    return next(other_faults(step), None) or next(first_gate_faults(step, checked=checked), None)


def first_gate_faults(step: Step, *, checked: bool) -> Iterator[Verdict]:
    for name in NAMES:
        # Whoever makes an exception of a tool makes it by its name, and not by what it is given.
        some = BAD if name == NAMES[0] else BAD[:3]
        for arguments, errors in [*((good, []) for good in GOOD), *some]:
            if not checked and not isinstance(arguments, dict):
                continue  # A copy, dict(tool_call.arguments), is as good.
            got: list[Any] = []
            answer = step.call(name, arguments, Path(), step.probes(got))
            if errors and checked:
                wanted = f"参数校验失败：{'；'.join(errors)}（出错）"
                if got or answer != wanted:
                    yield let_through(name, arguments, wanted, answer, ran=bool(got))
            elif got != [arguments] or answer != "好":
                yield kept_back(name, arguments, got, answer)


def let_through(name: str, arguments: object, wanted: str, answer: str, *, ran: bool) -> Verdict:
    return not_yet(
        say("run_tool does not refuse wrong arguments as it did"),
        where=say("the result of {name} with {arguments}", name=name, arguments=arguments),
        expected=wanted,
        seen=answer,
        guess=say("task 2 took the first gate out of run_tool; put it back") if ran else "",
    )


def kept_back(name: str, arguments: object, got: list[Any], answer: str) -> Verdict:
    guess = ""
    if "'checked'" in answer or "'value'" in answer:
        guess = say("tool.execute still asks for checked.value: give it tool_call.arguments")
    if got and got != [arguments]:
        return not_yet(
            say("the tool does not get the arguments of the call"),
            where=say("what {name} gets", name=name),
            expected=str(arguments),
            seen=str(got[0]),
            guess=say("the call is: await tool.execute(tool_call.arguments, tool_context)"),
        )
    return not_yet(
        say("a tool {name} does not run with {arguments}", name=name, arguments=arguments),
        where=say("its result"),
        expected="好",
        seen=answer,
        guess=guess or say("the first gate is still there, for some calls or for all"),
    )


def other_faults(step: Step) -> Iterator[Verdict]:
    """Look at what no task takes out: the branch for unknown tools, and the second gate."""
    wanted = {
        "nope": "未注册的工具：nope（出错）",
        "": "未注册的工具：（出错）",
        "fail": "工具执行失败：坏了（出错）",
        "only_text": "工具执行失败：工具没有返回 ToolResult（出错）",
        "bad_news": "没有（出错）",
        "cancel": "CancelledError: ",
    }
    for name, result in wanted.items():
        answer = step.call(name, {"text": "x"}, Path(), step.probes([]))
        if answer != result:
            guess = say("in run_tool, only the first gate is to go")
            if "'checked'" in answer or "'value'" in answer:
                guess = say(
                    "tool.execute still asks for checked.value: give it tool_call.arguments"
                )
            yield not_yet(
                unknown(name),
                where=say("the result"),
                expected=result,
                seen=answer,
                guess=guess,
            )


def unknown(name: str) -> str:
    match name:
        case "nope" | "":
            return say("run_tool answers a call of a tool that nobody registered otherwise now")
        case "fail":
            return say("run_tool does not catch what a tool raises as it did")
        case "cancel":
            return say("run_tool keeps a cancellation to itself")
    return say("run_tool does not pass on what a tool returns as it did")


def validate_verdict(package: str) -> Verdict | None:
    """Return what is wrong with validate where no enum is asked for."""
    return next(validate_faults(Step(package)), None)


def validate_faults(step: Step) -> Iterator[Verdict]:
    for arguments, errors in [*((good, []) for good in GOOD), *BAD]:
        told = errors_of(step.validate, PARAMETERS, arguments)
        if told != errors:
            yield not_yet(
                say("validate does not find what it found before"),
                where=say("its errors for {arguments}", arguments=arguments),
                expected="；".join(errors) or say("(none)"),
                seen="；".join(told) or say("(none)"),
                guess=say("validate itself stays as it is; only enum is new in it, in task 3"),
            )


def registry_verdict(package: str) -> Verdict | None:
    """Return a schema that a registry should refuse, and takes."""
    step = Step(package)
    for schema in BAD_SCHEMAS:
        try:
            tool = step.tool_types.ToolDefinition("probe", "", schema, None)
            step.registry.ToolRegistry().register(tool)
        except ValueError:
            continue
        return not_yet(
            say("a schema that cannot be checked is registered"),
            where=say("the schema"),
            expected=say("an error"),
            seen=str(schema),
            guess=say("schema_faults still has to find what it found before"),
        )
    return None


def errors_of(validate: Any, schema: Any, value: Any) -> list[str]:
    """Return the errors that validate finds; FoundError if it does more than to look."""
    where = say("what it does with {value}", value=value)
    before = copy.deepcopy((schema, value))
    try:
        result = validate(schema, value)
    except Exception as error:
        found, wanted = say("validate raises an error"), say("a list of errors, or none")
        raise FoundError(
            not_yet(found, where=where, expected=wanted, seen=explained(error))
        ) from None
    if before != (schema, value):
        found = say("validate changes the arguments, or the schema")
        seen = str(value if before[1] != value else schema)
        wanted = str(before[0] if before[1] == value else before[1])
        raise FoundError(not_yet(found, where=where, expected=wanted, seen=seen))
    if hasattr(result, "errors"):
        return [str(error) for error in result.errors]
    if result.value is not value:
        found = say("validate does not pass on the arguments themselves")
        wanted = say("the same object, unchanged")
        raise FoundError(not_yet(found, where=where, expected=wanted, seen=str(result.value)))
    return []


def calc_verdict(package: str) -> Verdict | None:
    """Return what calc answers otherwise than it did."""
    step = Step(package)
    for expression, wanted in CALC.items():
        answer = step.call("calc", {"expression": expression}, Path())
        if answer != wanted:
            return not_yet(
                say("calc does not answer as before"),
                where=say("its result for {expression}", expression=repr(expression)),
                expected=wanted,
                seen=answer,
                guess=say("without op it does what it did"),
            )
    return None
