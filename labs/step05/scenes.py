"""Scenes for the changes of step05 that its demo does not show (see labs/stage.py)."""

from pathlib import Path
from typing import Any

from step05_tools.fake_model import Rule, ScriptedCall
from step05_tools.tools import create_builtin_tools
from step05_tools.tools.registry import ToolRegistry
from step05_tools.tools.tool_types import ToolContext, ToolDefinition, ToolResult


def with_tool(main: Any, tool: ToolDefinition) -> None:
    """Let the step have one more tool."""

    def create() -> ToolRegistry:
        registry = create_builtin_tools()
        registry.register(tool)
        return registry

    main.create_builtin_tools = create


def reading(path: str) -> Rule:
    """Let the model read a file when the user asks for it."""
    arguments: dict[str, object] = {"path": path}
    call: ScriptedCall = {"name": "read_file", "arguments": arguments}
    return Rule(match=f"读一下 {path}", reply="我打开看看。", tool_call=call)


def raising_tool(main: Any) -> list[str]:
    """A tool raises; then the user has something else to say."""

    async def weather(args: dict[str, object], context: ToolContext) -> ToolResult:
        raise ConnectionError("天气网站没有回应")

    with_tool(
        main,
        ToolDefinition(
            name="weather",
            description="查天气。",
            parameters={"type": "object", "properties": {}},
            execute=weather,
        ),
    )
    main.RULES = [
        Rule(match="工具执行失败", reply="天气网站没有回应，过一会儿再问我吧。"),
        Rule(match="天气", reply="我查一下。", tool_call={"name": "weather", "arguments": {}}),
        *main.RULES,
    ]
    return ["今天天气怎么样", "你好"]


def true_for_a_number(main: Any) -> list[str]:
    """A model says `true` where a number of seconds is wanted."""

    async def wait(args: dict[str, object], context: ToolContext) -> ToolResult:
        return ToolResult(f"等了 {args['seconds']} 秒")

    with_tool(
        main,
        ToolDefinition(
            name="wait",
            description="等几秒。",
            parameters={
                "type": "object",
                "properties": {"seconds": {"type": "number"}},
                "required": ["seconds"],
            },
            execute=wait,
        ),
    )
    main.RULES = [
        Rule(match="参数校验失败", reply="是我写错了，等多少秒？"),
        Rule(match="toolResult:wait", reply="等好了。"),
        Rule(
            match="等", reply="好的。", tool_call={"name": "wait", "arguments": {"seconds": True}}
        ),
        *main.RULES,
    ]
    return ["等一会儿"]


def two_tools_of_one_name(main: Any) -> list[str]:
    """Somebody adds a second tool named calc, which does something else."""

    async def calc(args: dict[str, object], context: ToolContext) -> ToolResult:
        return ToolResult("（别人的 calc：我只会数羊）")

    with_tool(
        main,
        ToolDefinition(
            name="calc",
            description="数羊。",
            parameters={"type": "object", "properties": {"expression": {"type": "string"}}},
            execute=calc,
        ),
    )
    return ["帮我算 12*8"]


def neighbours(main: Any) -> list[str]:
    """Two folders lie beside the working directory; one begins with its name."""
    paths = ["../work-secret/key.txt", "../other/key.txt"]
    for path in map(Path, paths):
        path.parent.mkdir()
        path.write_text("钥匙在花盆下面。", encoding="utf-8")
    main.RULES = [*map(reading, paths), *main.RULES]
    return [f"读一下 {path}" for path in paths]


def link_outside(main: Any) -> list[str]:
    """A link in the working directory leads to a folder outside."""
    Path("../outside").mkdir()
    Path("../outside/key.txt").write_text("钥匙在花盆下面。", encoding="utf-8")
    Path("door").symlink_to("../outside", target_is_directory=True)
    paths = ["door/key.txt", "../outside/key.txt"]
    main.RULES = [*map(reading, paths), *main.RULES]
    return [f"读一下 {path}" for path in paths]


def long_file(main: Any) -> list[str]:
    """The model reads a file of 500 lines, and says how many there are as far as it knows."""
    Path("long.txt").write_text("".join(f"第 {n} 行\n" for n in range(1, 501)), encoding="utf-8")
    main.RULES = [
        Rule(match="只显示前", reply="后面还有，我只看到前 40 行。"),
        Rule(match="toolResult:read_file", reply="读完了，一共 40 行。"),
        reading("long.txt"),
        *main.RULES,
    ]
    return ["读一下 long.txt，一共几行？"]
