"""The rules of a changed step: those that were shipped still answer, and new ones swallow nothing.

What was shipped stands in labs/stepNN/rules.txt, one rule a line. From it follows what every
sentence got before, whatever the reader's rules say now.
"""

import importlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .conversation import play_demo, rules_of
from .language import say
from .verdict import Verdict, not_yet, shortened

# Sentences and results that nobody has a rule for, close to those for which a task wants one.
SENTENCES = """
今天天气怎么样 · 再见 · 谢谢你 · 你是谁 · 讲个笑话 · 现在几点了 · 你会什么 · 我有一个问题
hello · OK · 帮我 · 帮我看看 · 帮我算 · 帮我算一下 · 算 · 算了 · 算一算 · 这怎么算 · 直接说
直走 · 一直 · 一直走 · 一直往前走 · 一 · 一会儿见 · 一共多少钱 · 第一名 · 再说一次 · 列
列一张表 · 列出步骤 · 列出所有人 · 排列 · 出 · 发出文件 · 导出文件 · 文件 · 删除文件
文件在哪里 · 文章 · 一件事 · list · files · path · calc · 0 · 1 · 2 · 3 · 8 · 9 · 10 · 12
90 · 95 · 96 · 99 · 100 · 199 · 5-1 · 10-1 · 200-1 · 500-1 · 帮我算 7+5 · 帮我算 5-1
帮我算 10-1 · 帮我算 200-1 · 帮我算 500-1 · 帮我算 12+5 · 帮我算 12*9 · 帮我算 100+5
帮我算 100*2 · 帮我算 100-2 · 帮我算 100-7 · 帮我算 100/1 · 帮我算 3*8 · 买 2 个苹果
买 9 个苹果 · 买 96 个苹果 · 买 99 个苹果 · 买 100 个苹果 · a-b · 1+1 · a.md · a.txt · b.md
b.txt · README · note · etc · hosts · 参数 · 写错 · 除以 · 零 · 你 · 好 · 断 · 线
"""
UNKNOWN = [sentence.strip() for sentence in SENTENCES.replace("\n", "·").strip("·").split("·")]
UNKNOWN_RESULTS = [
    *(f"toolResult:calc {number}" for number in (9, 95, 97, 98, 9.5, 90, 1, 3, 30, 199, 0.5, -99)),
    "toolResult:calc 无法解析表达式：x",
    "toolResult:calc 工具执行失败：x",
    "toolResult:nope 未注册的工具：nope",
    "toolResult:clock 12:00",
]
# A new rule may answer one sentence of these: it may have been written for it.
FEW = 1


def shipped_rules(labs: Path) -> list[dict[str, Any]]:
    lines = (labs / "rules.txt").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def rule_lines(package: str) -> str:
    """Return the rules of a step as labs/stepNN/rules.txt holds them."""
    lines = (json.dumps(asdict(rule), ensure_ascii=False) for rule in rules_of(package))
    return "".join(f"{line}\n" for line in lines)


def first_for(rules: list[Any], key: str) -> Any:
    """Return the rule that answers a key; every script has a fallback, which answers all."""
    return next((rule for rule in rules if rule.match is None or rule.match in key), None)


def is_unreached(rules: list[Any], key: str) -> bool:
    """Return whether a rule for `key` stands behind the fallback, where nothing is reached."""
    places = [place for place, rule in enumerate(rules) if rule.match is None]
    return any(rule.match in key for rule in rules[places[0] :] if rule.match) if places else False


def unanswered(package: str, sentence: str) -> Verdict | None:
    """Return a verdict on a sentence, or a result, that falls to the fallback."""
    rules = rules_of(package)
    rule = first_for(rules, sentence)
    if rule is not None and rule.match is not None:
        return None
    guess = say("no match of a rule is a part of it")
    if is_unreached(rules, sentence):
        guess = say(
            "its rule stands behind the fallback, where nothing is reached: "
            "the fallback is the last rule"
        )
    return not_yet(say("no rule answers 「{sentence}」", sentence=sentence), guess=guess)


def runs(package: str) -> Verdict | None:
    """Play the demo once: a step that does not run has that fault first."""
    odd = odd_rule(package)
    if odd is None:
        play_demo(package)
    return odd


def odd_rule(package: str) -> Verdict | None:
    """Name an entry of RULES that is no proper rule, before the model trips over it."""
    rule_type = importlib.import_module(f"{package}.fake_model").Rule
    for number, rule in enumerate(rules_of(package), 1):
        if not isinstance(rule, rule_type):
            kind = type(rule).__name__
            return not_yet(
                say("entry {number} of RULES is a {kind}, not a Rule", number=number, kind=kind),
                guess=say("a comma or a bracket too many, or one that is missing?"),
            )
        if not isinstance(rule.match, str | None) or not isinstance(rule.reply, str):
            return not_yet(
                say("the match and the reply of rule {number} have to be text", number=number)
            )
        call = rule.tool_call
        if call is not None and not (
            isinstance(call, dict)
            and isinstance(call.get("name"), str)
            and isinstance(call.get("arguments"), dict)
        ):
            return not_yet(
                say("the tool_call of {rule} is not one", rule=named(rule)),
                where=say("its tool_call"),
                expected='{"name": "calc", "arguments": {"expression": "..."}}',
                seen=repr(call),
            )
    return None


def changed_rule(package: str, labs: Path) -> Verdict | None:
    """Name a shipped rule that is gone or changed, or a new one that answers what it should not."""
    rules, shipped = rules_of(package), shipped_rules(labs)
    for old in shipped:
        if old not in map(asdict, rules):
            return gone(old, rules)
    sentences = [old["match"] for old in shipped if old["match"]]
    results = [match for match in sentences if match.startswith("toolResult:")]
    # A result may hold any sentence.
    for key in [*sentences, *(f"{one} {other}" for one in results for other in sentences)]:
        rule = first_for(rules, key)
        if asdict(rule) != shipped_answer(shipped, key):
            return not_yet(
                say(
                    "{rule} answers {key} now, which has a rule of its own",
                    rule=named(rule),
                    key=in_quotes(key),
                ),
                guess=say("its match is too short, or it stands too early"),
            )
    return swallowing_rule(rules, shipped)


def shipped_answer(shipped: list[dict[str, Any]], key: str) -> dict[str, Any]:
    return next(old for old in shipped if old["match"] is None or old["match"] in key)


def gone(old: dict[str, Any], rules: list[Any]) -> Verdict:
    if old["match"] is None:
        return not_yet(
            say("the fallback is not as it was shipped"),
            guess=say(
                "it has no match, its reply is {reply!r}, and it stays the last rule",
                reply=old["reply"],
            ),
        )
    match = repr(old["match"])
    found = say("the rule with match={match} is gone, or has another match now", match=match)
    if any(rule.match == old["match"] for rule in rules):
        found = say("the rule with match={match} is changed", match=match)
    return not_yet(found, guess=say("restore it; a task only adds rules"))


def swallowing_rule(rules: list[Any], shipped: list[dict[str, Any]]) -> Verdict | None:
    """Name a new rule that answers several things for which nobody has a rule."""
    for rule in rules:
        if asdict(rule) in shipped:
            continue
        # A rule that wants a tool again may answer any result: so a model never stops.
        keys = UNKNOWN if rule.tool_call else [*UNKNOWN, *UNKNOWN_RESULTS]
        caught = [key for key in keys if first_for(rules, key) is rule]
        if caught and not rule.match:
            return not_yet(
                say("{rule} answers everything, like a second fallback", rule=named(rule)),
                guess=say("it needs a match, and stands before the fallback"),
            )
        if len(caught) > FEW:
            return not_yet(
                say(
                    "{rule} answers {key} and {other} too",
                    rule=named(rule),
                    key=in_quotes(caught[0]),
                    other=in_quotes(caught[1]),
                ),
                guess=say(
                    "match is looked for inside the sentence or the result: the shorter it "
                    "is, the more it catches"
                ),
            )
    return None


def named(rule: Any) -> str:
    if rule.match is None:
        return say("a rule without match")
    return say("the rule with match={match}", match=repr(shortened(rule.match)))


def in_quotes(key: str) -> str:
    return f"「{key}」"
