"""The questions of the chapters: what labs/stepNN/README.md answers is what the code does."""

import ast
import asyncio
import importlib
import json
import shutil
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest

from labs.breaks import find_break, run_broken, run_intact
from labs.step09.in_batches import Batch
from shared.child import call_in_child
from shared.pairing import pairing_faults
from shared.steps import find_step
from shared.watching import Run
from step04_agent_loop.tools import create_tools
from step05_tools.agent_loop import run_tool
from step05_tools.fake_model import FakeModel
from step05_tools.harness_types import (
    Context,
    ToolCallAnnounced,
    ToolCallContent,
    ToolResultMessage,
)
from step05_tools.main import chat
from step05_tools.rules import RULES
from step05_tools.tools import create_builtin_tools
from step05_tools.tools.tool_types import ToolContext, ToolResult
from step05_tools.tools.validate import Valid, validate

step06: Any = importlib.import_module("step06_sessions.main")
step07: Any = importlib.import_module("step07_cancel_hooks.main")
step07_model: Any = importlib.import_module("step07_cancel_hooks.fake_model")
step07_types: Any = importlib.import_module("step07_cancel_hooks.tools.tool_types")


async def run(name: str, arguments: dict[str, object], cwd: Path) -> ToolResult:
    call = ToolCallContent("call_1", name, arguments)
    return await run_tool(call, create_builtin_tools(), ToolContext(cwd=cwd))


def test_1_three_returns_and_the_last_is_the_normal_end() -> None:
    tree = ast.parse((find_step("04") / "agent_loop.py").read_text("utf-8"))
    loop = next(node for node in tree.body if getattr(node, "name", "") == "run_agent_loop")
    before_return = {
        ast.unparse(node.test): [ast.unparse(line) for line in node.body]
        for node in ast.walk(loop)
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Return)
    }
    assert before_return == {
        "event.type == 'error'": ["return"],
        "assistant is None": ["return"],
        "not tool_calls": ["yield TurnEnd(turn)", "return"],
    }


def test_2_the_result_is_on_the_screen_and_not_in_the_history(tmp_path: Path) -> None:
    broken = run_broken(find_break(find_step("04"), "no-append"), tmp_path)
    assert "[工具结果] calc → 96" in broken.transcript
    assert "toolResult" not in broken.history


async def test_3_only_what_ran_before_makes_the_cast_safe(tmp_path: Path) -> None:
    refused = await run("calc", {"expression": 1}, tmp_path)
    assert refused.content == "参数校验失败：参数 expression 应为 string，实际是 number"
    # The same line in step04, where nothing has run before: the tool gets what the model made up.
    shutil.copytree(find_step("04"), tmp_path / "step04_agent_loop")
    tools = tmp_path / "step04_agent_loop" / "tools.py"
    text = tools.read_text("utf-8")
    cast = text.replace('str(args.get("expression"))', 'cast(str, args.get("expression"))')
    assert cast != text
    tools.write_text(f"from typing import cast\n{cast}", encoding="utf-8")
    said = call_in_child(tmp_path, "labs.tests.test_self_test:answer_to_no_argument", "")
    assert said["content"] == "expected string or bytes-like object, got 'NoneType'"


def answer_to_no_argument(_: str) -> ToolResult:
    """Call the calc of step04 without any argument; return what it raises."""
    try:
        asyncio.run(calc_without_argument())
    except TypeError as error:
        return ToolResult(str(error), is_error=True)
    raise AssertionError("calc did not raise")


async def calc_without_argument() -> str:
    return await create_tools()["calc"]({})


async def call_after(context: Context) -> list[dict[str, object]]:
    """Return the arguments that the model comes up with next."""
    async with aclosing(FakeModel(RULES)(context)) as stream:
        return [e.tool_call.arguments async for e in stream if isinstance(e, ToolCallAnnounced)]


def test_4_the_model_corrects_its_call_if_it_sees_the_error(tmp_path: Path) -> None:
    context = chat(["故意写错参数试试"], cwd=tmp_path)
    error = context.messages[2]
    assert isinstance(error, ToolResultMessage)
    assert error.is_error
    assert asyncio.run(call_after(Context(context.messages[:3]))) == [{"expression": "1+1"}]
    assert asyncio.run(call_after(Context(context.messages[:2]))) == []


async def test_5_half_an_argument_can_pass_every_check(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("another file")
    (tmp_path / "notes.txt").write_text("the file that was meant")
    tool = create_builtin_tools().get("read_file")
    assert tool is not None
    cut: dict[str, object] = {"path": "notes.txt"[:5]}
    assert validate(tool.parameters, cut) == Valid(cut)
    assert await run("read_file", cut, tmp_path) == ToolResult("another file")


def session_lines(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of the one session of a folder, which has no other file."""
    (path,) = (folder / ".sessions").iterdir()
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_sessions_1_and_5_a_killed_run_leaves_its_call_and_no_lock(tmp_path: Path) -> None:
    run = run_intact(find_step("06"), "power_cut", tmp_path)
    assert run.history.splitlines()[3:5] == [
        'assistant "12*8 = 96。拔电源。" → call_2 unplug {}',
        'toolResult call_2 unplug "上次运行在此中断，工具没有执行完" is_error',
    ]
    # The ids of the first process begin with 1, and those of the second one with 2.
    _, *lines = session_lines(tmp_path / "work")
    killed = [line["message"]["role"] for line in lines if line["id"][0] == "1"]
    assert killed == ["user", "assistant", "toolResult", "assistant"]
    assert [line["message"]["role"] for line in lines[4:]] == ["toolResult", "user", "assistant"]


def test_sessions_2_what_stands_behind_a_torn_line_is_lost_with_it(tmp_path: Path) -> None:
    broken = run_broken(find_break(find_step("06"), "behind-a-torn-line"), tmp_path)
    assert "你> 你好\n" in broken.transcript
    assert 'user "你好"' not in broken.history


def test_sessions_3_going_back_loses_nothing_and_makes_two_children(tmp_path: Path) -> None:
    with closing(step06.start_session(tmp_path)) as session:
        step06.chat(["12*8"], session=session, cwd=tmp_path)
        before = session_lines(tmp_path)
        context = step06.chat(["/back 1", "你好"], session=session, cwd=tmp_path)
    after = session_lines(tmp_path)
    assert after[: len(before)] == before
    children = [line for line in after[1:] if line["parentId"] is None]
    assert [line["message"]["content"][0]["text"] for line in children] == ["12*8", "你好"]
    assert len(context.messages) == 2


async def test_sessions_4_a_tool_begins_when_its_call_was_passed_on(tmp_path: Path) -> None:
    loops = {(find_step(number) / "agent_loop.py").read_bytes() for number in ("05", "06")}
    assert len(loops) == 1
    context = step06.Context([step06.user_text("note.txt")])
    events = step06.run_agent_loop(
        stream_fn=step06.FakeModel(step06.RULES),
        context=context,
        tools=step06.create_builtin_tools(),
        tool_context=step06.ToolContext(cwd=tmp_path),
    )
    async with aclosing(events):
        async for event in events:
            if event.type == "tool_call":  # What its tool will read is not there yet.
                assert context.messages[-1].role == "assistant"
                (tmp_path / "note.txt").write_text("早一步", encoding="utf-8")
    assert context.messages[2].content[0].text == "早一步"


async def test_cancel_1_a_tool_that_ignores_it_is_given_up_after_its_grace(tmp_path: Path) -> None:
    assert step07.CancelToken().grace == 1.0
    cancel = step07.CancelToken(grace=0.01)

    async def deaf(args: dict[str, object], context: Any) -> Any:
        cancel.cancel()
        await asyncio.Event().wait()

    tools = step07.ToolRegistry()
    schema = {"type": "object", "properties": {}}
    tools.register(step07_types.ToolDefinition("deaf", "", schema, deaf))
    rule = step07_model.Rule(reply="", tool_call={"name": "deaf", "arguments": {}})
    context = step07.Context([step07.user_text("go")])
    events = step07.run_agent_loop(
        stream_fn=step07.FakeModel([rule]),
        context=context,
        tools=tools,
        tool_context=step07.ToolContext(tmp_path, cancel),
    )
    async with aclosing(events):
        kinds = [event.type async for event in events]
    assert kinds.count("turn_start") == 1
    (result,) = context.messages[2:]
    assert result.content[0].text == "已取消：工具没有停下来，等了 0.01 秒，不再等它"


def test_cancel_2_who_leaves_needs_all_answered_and_a_cancel_does_not(tmp_path: Path) -> None:
    change = find_break(find_step("07"), "calls-left-open")
    assert run_broken(change, tmp_path).faults == ["call call_1 has no result"]
    demo = Run(**call_in_child(tmp_path, "shared.watching:watch_demo", change.step))
    assert "countdown → 已取消（出错）" in demo.transcript
    assert demo.faults == []


def test_cancel_3_what_a_hook_that_fails_does_depends_on_what_it_is(tmp_path: Path) -> None:
    for folder in ("rule", "observer", "after"):
        (tmp_path / folder).mkdir()
    rule = run_intact(find_step("07"), "rule_with_a_fault", tmp_path / "rule")
    assert "钩子 before_tool_call 出错：KeyError: 'paht'（出错）" in rule.transcript
    assert "删掉了" not in rule.transcript
    observer = run_intact(find_step("07"), "observer_with_a_fault", tmp_path / "observer")
    assert observer.transcript.count("钩子 tool_result 出错") == 1
    assert observer.transcript.count("[工具结果]") == 2
    hooks = step07.Hooks()
    hooks.on("after_tool_call", lambda call, result: 1 / 0, "h")
    messages = step07.chat(["12*8"], cwd=tmp_path, hooks=hooks).messages
    assert messages[2].is_error
    assert messages[2].content[0].text == "h 的钩子 after_tool_call 出错：division by zero"


def test_cancel_4_asked_first_the_user_agrees_to_another_command(tmp_path: Path) -> None:
    change = find_break(find_step("07"), "agreed-to-another")
    (tmp_path / "intact").mkdir()
    intact = run_intact(find_step("07"), change.scene, tmp_path / "intact")
    assert "运行 echo goodbye 吗？(y/n) y\n[工具结果] run_command → goodbye" in intact.transcript
    broken = run_broken(change, tmp_path)
    assert "运行 echo hello 吗？(y/n) y\n[工具结果] run_command → goodbye" in broken.transcript


def test_cancel_5_a_model_that_raises_ends_a_run_and_no_conversation(tmp_path: Path) -> None:
    run = run_intact(find_step("07"), "model_raises", tmp_path)
    assert "助手> 我正说到\n[错误] 模型出错：连接被对方重置\n[第 1 轮结束]\n" in run.transcript
    assert run.history == 'user "你好"\nuser "断线"\n'

    class Raising:
        def __init__(self, rules: object, **options: object) -> None: ...

        async def __call__(self, context: Any, options: Any) -> Any:
            raise ConnectionResetError
            yield

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step06, "FakeModel", Raising)
        with pytest.raises(ConnectionResetError):
            step06.chat(["你好"], cwd=tmp_path)


def played(name: str, folder: Path, *, broken: bool = False, step: str = "08") -> Run:
    """Play the scene of a change of a step, with it or without."""
    change = find_break(find_step(step), name)
    copy = folder / ("broken" if broken else "intact")
    copy.mkdir()
    return run_broken(change, copy) if broken else run_intact(find_step(step), change.scene, copy)


def test_providers_1_nothing_is_an_argument_too(tmp_path: Path) -> None:
    name = "broken-json-is-empty"
    run = played(name, tmp_path)
    assert "[工具结果] clean → 参数校验失败：参数不是合法的 JSON" in run.transcript
    assert "clean → 删掉了：所有文件夹" in played(name, tmp_path, broken=True).transcript


def test_providers_2_who_asks_again_and_keeps_what_came_pays_twice(tmp_path: Path) -> None:
    assert "付了第 1 笔" not in played("asked-again", tmp_path).transcript
    run = played("asked-again", tmp_path, broken=True)
    assert [line for line in run.history.splitlines() if line.startswith("toolResult")] == [
        'toolResult call_a pay "付了第 1 笔"',
        'toolResult call_b pay "付了第 2 笔"',
    ]


def test_providers_3_no_call_of_an_answer_that_was_cut_is_run(tmp_path: Path) -> None:
    run = played("cut-calls-run", tmp_path)
    refused = "move → 参数校验失败：输出到了长度上限，这次调用被截断，没有执行"
    assert run.transcript.count(refused) == 2
    assert "搬走了" not in run.transcript


def test_providers_4_a_key_that_the_service_repeats_is_stars(tmp_path: Path) -> None:
    run = played("key-in-an-error", tmp_path)
    assert "this key is not for this model: ***" in run.transcript
    assert "sk-" not in run.transcript + run.history
    through = played("sdk-raises-through", tmp_path, broken=True)
    assert "sk-nobody-may-see-this" in through.transcript


def test_providers_5_the_loop_does_not_know_and_validate_refuses() -> None:
    loops = {(find_step(number) / "agent_loop.py").read_bytes() for number in ("07", "08")}
    assert len(loops) == 1
    types: Any = importlib.import_module("step08_providers.harness_types")
    module: Any = importlib.import_module("step08_providers.tools.validate")
    cut = types.UnusableArguments("{}", "the output was cut")
    assert isinstance(cut, dict)
    nothing_needed = {"type": "object", "properties": {}}
    assert module.validate(nothing_needed, cut) == module.Invalid(["the output was cut"])


def test_full_loop_1_after_a_cancel_pi_asks_once_more_and_ours_asks_nobody(tmp_path: Path) -> None:
    scenario: Any = importlib.import_module("step09_full_loop.tests.conformance.scenario")
    folder = find_step("09") / "tests" / "conformance" / "scenarios"

    def pi(name: str) -> dict[str, Any]:
        recording = (folder / f"{name}.out.jsonl").read_text("utf-8")
        last: dict[str, Any] = json.loads(recording.splitlines()[-1])
        return last

    name = "67_abort_after_message_end"
    ours = asyncio.run(scenario.Played(scenario.read_scenario(folder / f"{name}.json")).play())[-1]
    assert (len(pi(name)["llmCalls"]), len(ours["llmCalls"])) == (2, 1)
    assert pi(name)["roles"] == ["user", "assistant", "toolResult", "assistant"]
    assert ours["roles"] == ["user", "assistant", "toolResult", "toolResult"]
    assert (pi(name)["polls"]["steering"], ours["polls"]["steering"]) == (2, 1)
    # What was typed: Pi takes it into the request that is dead, ours keeps it for the next one.
    assert pi("94_abort_agent_in_tool")["roles"][-2:] == ["user", "assistant"]
    run = played("request-after-cancel", tmp_path, step="09")
    assert run.history.splitlines()[3:5] == ['user "你好"', 'user "顺便算一下 12*8"']


def test_full_loop_2_people_see_the_end_at_once_and_the_history_keeps_the_order(
    tmp_path: Path,
) -> None:
    run = played("results-as-they-end", tmp_path, step="09")
    assert run.transcript.index("ride → 快车到了") < run.transcript.index("ride → 慢车到了")
    assert run.history.index('call_1 ride "慢车到了"') < run.history.index('call_2 ride "快车')
    broken = played("results-as-they-end", tmp_path, broken=True, step="09")
    assert broken.transcript == run.transcript
    assert broken.faults == ["result call_1 (ride) is behind that of a later call"]


class Finishing(Batch):
    """A run with a tool that says `terminate`, and another one that does not."""

    def __init__(self) -> None:
        super().__init__("step09_full_loop")

        async def finish() -> Any:
            return self.tool_types.ToolResult("", terminate=True)

        async def work() -> None: ...

        self.tool("finish", finish)
        self.tool("work", work)

    def asks(self, *names: str, **config: Any) -> int:
        """Make these calls, and return how often the model is asked in all."""
        self.run(*(self.call(str(n), name) for n, name in enumerate(names)), **config)
        return len(self.asked)

    def saying(self, *polls: str) -> Any:
        """Return a queue that gives one of these texts a poll, "" for none, and then no more."""
        left = [*polls]

        async def take() -> list[Any]:
            text = left.pop(0) if left else ""
            return [self.types.user_text(text)] if text else []

        return take


def test_full_loop_3_terminate_counts_if_all_say_it_and_the_user_says_nothing() -> None:
    assert Finishing().asks("finish") == 1
    assert Finishing().asks("finish", "finish") == 1
    assert Finishing().asks("finish", "work") == 2
    assert Finishing().asks("finish", "nobody") == 2
    steered, followed = Finishing(), Finishing()
    assert steered.asks("finish", get_steering_messages=steered.saying("", "more")) == 2
    assert followed.asks("finish", get_follow_up_messages=followed.saying("more")) == 2


def test_full_loop_4_steering_joins_the_next_turn_and_a_follow_up_waits_for_the_last(
    tmp_path: Path,
) -> None:
    run = played("follow-up-before-steering", tmp_path, step="09")
    order = ["你> /follow 你好", "你> 顺便算一下", "[插话] 顺便算一下", "算好了：", "[插话] 你好"]
    places = [run.transcript.index(part) for part in order]
    assert places == sorted(places)
    assert 'toolResult call_3 countdown "零"\nuser "顺便算一下 12*8"\n' in run.history


def test_full_loop_5_another_list_is_for_one_request_and_the_list_itself_is_the_history() -> None:
    batch, other = Finishing(), Finishing()

    async def shorter(messages: Any) -> Any:
        return [*messages[-1:], batch.types.user_text("hint")]

    async def emptied(messages: Any) -> Any:
        del messages[:]
        return messages

    batch.run(batch.call("c1", "work"), transform_context=shorter)
    seen = [[message.role for message in messages] for messages in batch.asked]
    assert seen == [["user", "user"], ["toolResult", "user"]]
    roles = [message.role for message in batch.context.messages]
    assert roles == ["user", "assistant", "toolResult", "assistant"]
    assert pairing_faults(batch.context.messages) == []
    assert pairing_faults(batch.asked[1]) == ["result c1 (work) has no call"]
    sendable = importlib.import_module("step09_full_loop.providers.sendable").sendable
    assert [message.role for message in sendable(batch.asked[1])] == ["user"]
    (made_up,) = sendable(batch.context.messages[1:2])[1:]
    assert made_up.is_error
    other.run(other.call("c1", "work"), transform_context=emptied)
    assert [message.role for message in other.context.messages] == ["assistant"]


@pytest.mark.parametrize("step", ["step06", "step07", "step08", "step09"])
def test_every_question_about_a_step_is_asked_once(step: str) -> None:
    for page in ("README.md", "README.zh-CN.md"):
        text = (Path(__file__).parents[1] / step / page).read_text("utf-8")
        assert [f"**{n}.** " in text for n in range(1, 6)] == [True] * 5
        assert text.count("<details>") == 5


def test_every_question_of_the_chapter_is_asked_once() -> None:
    labs = Path(__file__).parents[1]
    for page in ("README.md", "README.zh-CN.md"):
        text = "".join((labs / f"step0{n}" / page).read_text("utf-8") for n in (4, 5))
        assert [f"**{n}.** " in text for n in range(1, 6)] == [True] * 5
        assert text.count("<details>") == 5
