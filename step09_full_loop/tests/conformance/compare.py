"""Whether two recordings of one scenario say the same."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .lines import Line

# Names and times that are nobody's behaviour.
LEFT_OUT = {"pkg", "durationMs", "timestamp"}

# What the loop itself says, in Pi's words and in ours: the same meaning is equal.
MEANINGS = {
    "validation": r"Validation failed for tool .*|参数校验失败：.*",
    "unknown tool": r"Tool (.*) not found|未注册的工具：(.*)",
    "blocked": r"Tool execution was blocked|工具调用被拦下",
    "cut": r"Tool call .* was not executed: the response hit the output token limit.*"
    r"|输出被 token 上限切断.*",
    "cancelled": r"Operation aborted|已取消",
}


def meaning(text: str) -> object:
    """Return what an error says: a text of the loop by its kind, that of a tool as it is."""
    for kind, pattern in MEANINGS.items():
        if found := re.fullmatch(pattern, text, re.DOTALL):
            return [kind, *filter(None, found.groups())]
    return text.removeprefix("工具执行失败：")


def compared(line: Line) -> Line:
    kept = {key: value for key, value in line.items() if key not in LEFT_OUT}
    if kept.get("isError") and isinstance(kept.get("text"), str):
        kept["text"] = meaning(kept["text"])
    return kept


def recording(path: Path) -> list[Line]:
    """Return the lines of a recording."""
    lines: list[Any] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return lines


def same(wanted: Sequence[Line], got: Sequence[Line]) -> bool:
    return [*map(compared, wanted)] == [*map(compared, got)]
