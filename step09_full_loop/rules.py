"""The script of the fake model. The first rule that matches wins, so the fallback comes last."""

from .fake_model import Rule

RULES = [
    # A file may hold any sentence, so these stand before the rules that look for one.
    Rule(match="toolResult:read_file 拒绝访问", reply="这个文件在工作目录之外，我不能读。"),
    Rule(match="toolResult:read_file 读不了", reply="这个文件没读成。"),
    Rule(match="toolResult:read_file", reply="读完了，内容就是上面这些。"),
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
    Rule(
        match="写错参数",
        reply="我把参数名写成 expr 试试。",
        tool_call={"name": "calc", "arguments": {"expr": "1+1"}},
    ),
    Rule(
        match="toolResult:calc 参数校验失败",
        reply="参数名不对，改成 expression 重来。",
        tool_call={"name": "calc", "arguments": {"expression": "1+1"}},
    ),
    # Only the history knows this. In a new session nobody has said it yet.
    Rule(match="刚才", earlier="12*8 = 96", reply="刚才算的是 12*8，结果是 96。"),
    Rule(match="toolResult:calc 2", reply="这次通过了：1+1 = 2。"),
    Rule(
        match="天气",
        reply="我查一下。",
        tool_call={"name": "weather", "arguments": {"city": "北京"}},
    ),
    Rule(match="toolResult:weather 未注册", reply="这里没有查天气的工具，要载入扩展才有。"),
    Rule(match="toolResult:weather", reply="查到了，天气就是上面这样。"),
    Rule(
        match="删掉",
        reply="我用一条命令删掉它。",
        tool_call={"name": "run_command", "arguments": {"command": "rm -r build"}},
    ),
    Rule(
        match="等一分钟",
        reply="好，我等着。",
        tool_call={"name": "run_command", "arguments": {"command": "sleep 60"}},
    ),
    Rule(match="toolResult:run_command 用户没有同意", reply="好，那就不运行。"),
    Rule(match="toolResult:run_command 不许", reply="这条命令不许运行，那就算了。"),
    Rule(match="toolResult:run_command", reply="命令结束了，结果在上面。"),
    Rule(
        match="倒数",
        reply="我从三开始数。",
        tool_call={"name": "countdown", "arguments": {}},
    ),
    Rule(match="toolResult:countdown 未注册", reply="倒数的工具只有 demo 里有。"),
    # Two calls in one answer: they run at the same time.
    Rule(
        match="两趟车",
        reply="我两趟一起看。",
        tool_call={"name": "ride", "arguments": {"train": "慢车"}},
        more_calls=[{"name": "ride", "arguments": {"train": "快车"}}],
    ),
    Rule(match="toolResult:ride 未注册", reply="看车的工具只有 demo 里有。"),
    Rule(match="toolResult:ride", reply="两趟都到了，快车先到。"),
    Rule(
        match="收工",
        reply="好，收工。",
        tool_call={"name": "finish", "arguments": {}},
    ),
    Rule(match="toolResult:finish 未注册", reply="收工的工具只有 demo 里有。"),
    Rule(
        match="note.txt",
        reply="我打开看看。",
        tool_call={"name": "read_file", "arguments": {"path": "note.txt"}},
    ),
    Rule(
        match="README.md",
        reply="我打开看看。",
        tool_call={"name": "read_file", "arguments": {"path": "README.md"}},
    ),
    Rule(
        match="etc/hosts",
        reply="我试着读一下。",
        tool_call={"name": "read_file", "arguments": {"path": "../../../etc/hosts"}},
    ),
    Rule(reply="这句话没有命中任何规则，我只能用兜底回复了。"),
]
