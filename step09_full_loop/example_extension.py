"""An example of an extension: one more tool, and a rule of its own about commands.

Name it at the start (--extension FILE), or copy it into the folder `extensions` of your work.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Nothing is imported when it runs: it gets all it needs from `api`.
    from .extensions import ExtensionApi
    from .harness_types import ToolCallContent
    from .hooks import Block
    from .tools.tool_types import ToolContext, ToolResult


def activate(api: "ExtensionApi") -> None:
    """Add what this extension has to offer. Called once, when it is loaded."""

    async def weather(args: dict[str, object], context: "ToolContext") -> "ToolResult":
        return api.ToolResult(f"{args['city']}：晴，26 度")

    def no_deleting(call: "ToolCallContent") -> "Block | None":
        command = str(call.arguments.get("command"))
        return api.Block("不许用命令删文件") if command.startswith("rm ") else None

    api.register_tool(
        api.ToolDefinition(
            name="weather",
            description="查一个城市现在的天气。",
            parameters={
                "type": "object",
                "properties": {"city": {"type": "string"}},
                "required": ["city"],
            },
            execute=weather,
        )
    )
    api.on("before_tool_call", no_deleting)
