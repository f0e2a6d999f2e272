"""The tasks of step04, as a reader has done them. The working directory is the root."""

import asyncio
import importlib
import inspect
import re
from contextlib import aclosing
from pathlib import Path
from typing import Any

from shared.rules import matching
from shared.trace.recorder import record
from shared.watching import step_folder, watch_chat

from ..breaks import pinned_run
from ..my_output import check_my_output
from ..scenes import FALLBACK, RULE_GUESS, changed_scene, is_as_it_came, rules_of
from ..taken_out import check_taken_out
from ..verdict import Verdict, differs, done, not_yet

HERE = Path(__file__).parent
DEMO = pinned_run(HERE, "demo")
SENTENCE = "帮我算 100-1"
MANY_TURNS = 20


def task1(package: str) -> Verdict:
    """Run the demo and compare."""
    return check_my_output(Path("labs/step04/my_output.txt"), DEMO.transcript, "04")


def task2(package: str) -> Verdict:
    """Take out the append of the result."""
    return check_taken_out(
        package,
        HERE,
        "no-append",
        untouched="context.messages still gets the result",
        seen="the screen shows 96, the model never learns of it, and 8 messages are left",
    )


def task3(package: str) -> Verdict:
    """Add a pair of rules and a line to the demo: 「帮我算 100-1」 takes two turns."""
    rules = rules_of(package)
    if changed := changed_scene(package, DEMO, guess=RULE_GUESS):
        return changed
    run = watch_chat(package, [SENTENCE])
    if FALLBACK in run.transcript and is_as_it_came(package, DEMO):
        return not_yet(f"the step is as it came: no rule answers 「{SENTENCE}」")
    if FALLBACK in run.transcript:
        return fallback_verdict(package, rules)
    call, result = '[工具调用] calc {"expression":"100-1"}', "[工具结果] calc → 99"
    if f"{call}\n{result}\n" not in run.transcript or run.history.count("\n") != 4:
        wanted = ["[第 1 轮]", "助手> ...", call, result, "[第 1 轮结束]", "[第 2 轮]", "助手> ..."]
        return differs(
            f"「{SENTENCE}」 does not take two turns with one tool call",
            "its transcript",
            "\n".join([f"你> {SENTENCE}", *wanted]),
            re.sub(r"助手> .*", "助手> ...", run.transcript),
            guess="the first rule needs tool_call, the second one must not have it",
        )
    return (
        caught_too_much(rules)
        or said_in_the_demo(package)
        or done(f"「{SENTENCE}」 takes two turns, and all other sentences get what they got before")
    )


def caught_too_much(rules: list[Any]) -> Verdict | None:
    """Return a verdict on the first rule that answers what it was not written for."""
    keys = ["toolResult:calc 9", "toolResult:calc 95", "toolResult:calc 199", "5-1", "200-1"]
    keys += ["100+5", "帮我算 100+5", "帮我算 12+5"]
    for key in keys:
        rule = rules[matching(rules, key)[0]]
        if rule.match is not None:
            return not_yet(
                f"the rule with match={rule.match!r} answers {key!r} too",
                guess="match is looked for inside the key: the shorter it is, the more it catches",
            )
    return None


def said_in_the_demo(package: str) -> Verdict | None:
    """Return what is wrong with the demo: the new sentence is missing, or an old one."""
    script = importlib.import_module(f"{package}.demo").SCRIPT
    said = [line.strip() for line in script[: script.index("/exit")]] if "/exit" in script else []
    for line in [SENTENCE, "你好", "帮我算 12*8", "帮我算 1 除以零"]:
        if line not in said:
            return not_yet(
                f"the rules work, but the demo does not say 「{line}」",
                guess=f"before /exit, SCRIPT in demo.py has {said}",
            )
    return None


def fallback_verdict(package: str, rules: list[Any]) -> Verdict:
    """Say why the fallback answered where a new rule was meant to."""
    asks = record(package, SENTENCE, str(step_folder(package))).asks
    turn, key = len(asks), asks[-1].key
    guess = f"the key of that turn is {key!r}, and no match is a part of it"
    fallback = next(n for n, rule in enumerate(rules) if rule.match is None)
    if any(rule.match in key for rule in rules[fallback + 1 :] if rule.match):
        guess = (
            "its rule stands behind the fallback, where nothing is reached: the fallback is last"
        )
    pinned_here = (step_folder(package) / "expected_output.txt").read_text("utf-8")
    if pinned_here != DEMO.transcript and FALLBACK in pinned_here:
        guess += "; and pinning expected_output.txt anew only hid that from the tests"
    return not_yet(f"in turn {turn} of 「{SENTENCE}」 the fallback answers", guess=guess)


def task4(package: str) -> Verdict:
    """Pass max_turns=2, and let the model always want a tool: 「一直算」."""
    run = watch_chat(package, ["一直算"])
    if FALLBACK in run.transcript.split("[第 2 轮]")[0]:
        return not_yet("no rule answers 「一直算」: the fallback does")
    limit = re.search(r"\[错误\] Agent Loop 达到最大轮数 (\d+)，已强制停止。", run.transcript)
    turns = run.transcript.count("[工具调用]")
    if limit is None:
        return differs(
            f"the model stops wanting a tool after turn {turns}",
            "the end of 「一直算」",
            "[错误] Agent Loop 达到最大轮数 2，已强制停止。",
            run.transcript.split("\n\n")[0].splitlines()[-1],
            guess="the result of its tool needs a rule with tool_call too, and before any other "
            "rule that matches it: 96, for one, has a rule already",
        )
    if limit[1] != "2":
        return differs(
            f"the run ends after {limit[1]} turns",
            "the error",
            "[错误] Agent Loop 达到最大轮数 2，已强制停止。",
            limit[0],
            guess="pass max_turns=2 where main.py calls run_agent_loop",
        )
    loop = importlib.import_module(f"{package}.agent_loop").run_agent_loop
    if inspect.signature(loop).parameters["max_turns"].default != 8:
        return not_yet(
            "the default of run_agent_loop has changed, for all of its callers",
            guess="leave it at 8 and pass max_turns=2 where main.py calls run_agent_loop",
        )
    if (stopped := turns_until_it_stops(package, loop)) < MANY_TURNS:
        return not_yet(
            f"with more turns the model would stop by itself, after {stopped}",
            guess="the rule for the result must lead to a result that a rule answers again",
        )
    if changed := changed_scene(package, DEMO, guess=RULE_GUESS):
        return changed
    return done(f"after 2 turns and {turns} results the loop stops with its error")


def turns_until_it_stops(package: str, loop: Any) -> int:
    """Return in how many of MANY_TURNS turns the model wants a tool after 「一直算」."""
    fake_model = importlib.import_module(f"{package}.fake_model")
    types = importlib.import_module(f"{package}.harness_types")
    tools = importlib.import_module(f"{package}.tools").create_tools()
    context = types.Context([types.user_text("一直算")])

    async def converse() -> None:
        model = fake_model.FakeModel(rules_of(package))
        events = loop(stream_fn=model, context=context, tools=tools, max_turns=MANY_TURNS)
        async with aclosing(events):
            async for _ in events:
                pass

    asyncio.run(converse())
    return sum(message.role == "toolResult" for message in context.messages)
