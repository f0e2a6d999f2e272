"""The registry: names are unique, and a spec is data that can go to a model."""

import dataclasses
import json

import pytest

from ..tools import create_builtin_tools
from ..tools.tool_types import ToolSpec


def test_the_tools_of_this_step() -> None:
    tools = create_builtin_tools()
    assert tools.names() == ["calc", "read_file"]
    assert tools.get("rm") is None


def test_two_tools_of_one_name_are_a_programming_error() -> None:
    tools = create_builtin_tools()
    calc = tools.get("calc")
    assert calc is not None
    with pytest.raises(ValueError, match="'calc'"):
        tools.register(calc)


def test_a_spec_is_json_and_holds_no_code() -> None:
    specs = create_builtin_tools().specs()
    assert [type(spec) for spec in specs] == [ToolSpec, ToolSpec]
    calc = json.loads(json.dumps([dataclasses.asdict(spec) for spec in specs]))[0]
    assert calc.keys() == {"name", "description", "parameters"}
    assert calc["parameters"]["required"] == ["expression"]
