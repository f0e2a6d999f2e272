"""The registry: what it takes, what it refuses, and what a model is told of the tools."""

import dataclasses
import json
from typing import Any

import pytest

from ..tools import create_builtin_tools
from ..tools.calc import CALC
from ..tools.read_file import READ_FILE
from ..tools.registry import ToolRegistry
from ..tools.run_command import RUN_COMMAND
from ..tools.tool_types import ToolContext, ToolDefinition, ToolResult, ToolSpec


def test_the_tools_that_come_with_the_step_are_found_by_their_names() -> None:
    tools = create_builtin_tools()
    assert tools.names() == ["calc", "read_file", "run_command"]
    assert [tools.get(name) for name in tools.names()] == [CALC, READ_FILE, RUN_COMMAND]
    assert tools.get("rm") is None


def test_two_tools_of_one_name_are_a_programming_error() -> None:
    tools = create_builtin_tools()
    calc = tools.get("calc")
    assert calc is not None
    with pytest.raises(ValueError, match="^there is a tool named 'calc' already$"):
        tools.register(calc)


async def answer(arguments: dict[str, object], context: ToolContext) -> ToolResult:
    return ToolResult("yes")


def register(schema: Any) -> None:
    ToolRegistry().register(ToolDefinition("ask", "", schema, answer))


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        ({"properties": {}}, 'its type has to be "object"'),
        ({"type": "array"}, 'its type has to be "object"'),
        (["x"], 'its type has to be "object"'),
        ({"type": "object", "properties": ["x"]}, 'properties: ["x"] is not of type "object"'),
        ({"type": "object", "required": "x"}, 'required: "x" is not of type "array"'),
        ({"type": "object", "required": None}, 'required: null is not of type "array"'),
        (
            {"type": "object", "properties": {"n": {}, "m": "string"}},
            'properties.m: "string" is not of types "boolean", "object"',
        ),
        (
            {"type": "object", "properties": {"n": {"type": "text"}}},
            'properties.n.type: "text" is not valid under any of the schemas listed in the '
            "'anyOf' keyword",
        ),
        (
            {"type": "object", "properties": {"n": {"pattern": "("}}},
            'properties.n.pattern: "(" is not a "regex"',
        ),
        (
            {"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}},
            "Pointer '/$defs/n' does not exist",
        ),
        (
            {"type": "object", "properties": {"n": {"$ref": "http://127.0.0.1:1/n"}}},
            "Resource 'http://127.0.0.1:1/n' is not present in a registry and retrieving it "
            "failed: Retrieval is disabled, cannot fetch http://127.0.0.1:1/n",
        ),
        ({"type": "object", "required": [["x"]]}, 'required.0: ["x"] is not of type "string"'),
        ({"type": "object", "default": object()}, "Unsupported type: 'object'"),
        ({"type": "object", 1: 2}, "Dict key must be str or str enum. Got 'int'"),
    ],
)
def test_a_schema_that_cannot_be_checked_is_a_programming_error(schema: Any, fault: str) -> None:
    with pytest.raises(ValueError, match="the schema of the tool 'ask': ") as error:
        register(schema)
    assert str(error.value) == f"the schema of the tool 'ask': {fault}"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {}, "required": []},
        {
            "type": "object",
            "properties": {
                "text": {"type": ["string", "null"], "enum": ["a"], "default": "a"},
                "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
                "count": {"type": "number", "minimum": 1},
                "loud": {"type": "boolean"},
            },
            "required": ("text",),
            "additionalProperties": False,
            "$defs": {"line": {"anyOf": [{"type": "integer"}, {"type": "string"}]}},
        },
    ],
)
def test_a_schema_may_say_all_that_json_schema_knows(schema: Any) -> None:
    register(schema)


def test_a_tool_that_is_refused_is_not_there() -> None:
    tools = ToolRegistry()
    with pytest.raises(ValueError, match="object"):
        tools.register(ToolDefinition("ask", "", {}, answer))
    assert tools.names() == []


def test_a_model_is_told_what_a_tool_does_and_not_how() -> None:
    specs = create_builtin_tools().specs()
    assert {type(spec) for spec in specs} == {ToolSpec}
    assert json.loads(json.dumps([dataclasses.asdict(spec) for spec in specs])) == [
        {
            "name": "calc",
            "description": (
                "做一次四则运算：两个数，中间一个 + - * / 号，小数点前后各不超过 100 位。"
            ),
            "parameters": {
                "type": "object",
                "properties": {"expression": {"type": "string", "description": "算式，例如 12*8"}},
                "required": ["expression"],
            },
        },
        {
            "name": "read_file",
            "description": "读工作目录里的一个 UTF-8 文本文件，最多返回前 40 行。",
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string", "description": "相对于工作目录的路径"}},
                "required": ["path"],
            },
        },
        {
            "name": "run_command",
            "description": "在工作目录里运行一条命令，最多 60 秒，返回前 40 行输出和退出码。",
            "parameters": {
                "type": "object",
                "properties": {"command": {"type": "string", "description": "交给 shell 的命令"}},
                "required": ["command"],
            },
        },
    ]
