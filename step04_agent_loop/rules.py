"""The script of the fake model. The first rule that matches wins, so the fallback comes last."""

from .fake_model import Rule

RULES = [
    Rule(match="你好", reply="你好！我现在会用工具了，试试问我「帮我算 12*8」。"),
    Rule(match="断线", reply="我正说到一半，", error="连接断了"),
    # A rule with a tool call and a rule for its result: the two turns of the loop.
    Rule(
        match="12*8",
        reply="这个我算一下。",
        tool_call={"name": "calc", "arguments": {"expression": "12*8"}},
    ),
    Rule(match="toolResult:calc 96", reply="算好了：12*8 = 96。"),
    Rule(
        match="除以零",
        reply="我试试。",
        tool_call={"name": "calc", "arguments": {"expression": "1/0"}},
    ),
    Rule(match="toolResult:calc 除数不能为 0", reply="这个算不了，除数不能是 0。"),
    Rule(reply="这句话没有命中任何规则，我只能用兜底回复了。"),
]
