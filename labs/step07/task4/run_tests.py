"""An extension that somebody sent us: a tool that runs tests.py, and a rule about the network.

It works, as long as nobody presses Ctrl-C and nobody uses another tool. Task 4 repairs it.
"""

import asyncio
import sys
from asyncio.subprocess import PIPE, STDOUT
from typing import Any


def activate(api: Any) -> None:
    async def run_tests(args: dict[str, object], context: Any) -> Any:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "tests.py", cwd=context.cwd, stdout=PIPE, stderr=STDOUT
        )
        output = b""
        while process.returncode is None:
            try:
                output += await process.stdout.read()  # type: ignore[union-attr]
                await process.wait()
            except BaseException:  # noqa: S112
                continue  # Tests take their time: go on waiting, whatever happens.
        text = output.decode("utf-8", "replace")
        return api.ToolResult(f"{text}（退出码 {process.returncode}）", process.returncode != 0)

    def no_network(call: Any) -> Any:
        if "curl" in call.arguments["command"]:
            return api.Block("测试不许上网")
        return None

    api.register_tool(
        api.ToolDefinition(
            name="run_tests",
            description="运行工作目录里的 tests.py，返回它的输出和退出码。",
            parameters={"type": "object", "properties": {}},
            execute=run_tests,
        )
    )
    api.on("before_tool_call", no_network)
