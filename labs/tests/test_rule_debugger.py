"""make rules: which rule answers at each turn, and which can hardly be meant."""

from pathlib import Path

import pytest

from labs.rule_debugger import oddities, rules
from shared.child import call_in_child
from shared.errors import UsageError
from shared.steps import ROOT, find_step, find_steps
from step04_agent_loop.fake_model import Rule


def test_every_turn_shows_its_key_and_its_rule(capsys: pytest.CaptureFixture[str]) -> None:
    rules(find_step("04"), "帮我算 12*8")
    assert capsys.readouterr().out.splitlines() == [
        "step04_agent_loop/rules.py: 7 rules, the first that matches answers",
        "",
        "turn 1, match key '帮我算 12*8'",
        "  answered by rule 3 (match='12*8'): 这个我算一下。",
        "",
        "turn 2, match key 'toolResult:calc 96'",
        "  answered by rule 4 (match='toolResult:calc 96'): 算好了：12*8 = 96。",
        "",
        "Every rule can be reached.",
    ]


def test_it_speaks_chinese_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_LANG", "zh")
    rules(find_step("04"), "你好")
    assert capsys.readouterr().out.splitlines()[2:4] == [
        "第 1 轮，匹配串 '你好'",
        "  回答的是规则 1（match='你好'）：你好！我现在会用工具了，试试问我「帮我算 12*8」。",
    ]


def test_a_sentence_without_a_rule_falls_to_the_fallback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rules(find_step("04"), "帮我算 100-1")
    assert "  answered by rule 7 (the fallback): 这句话没有" in capsys.readouterr().out


def test_a_second_rule_that_matches_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    rules(find_step("04"), "你好，帮我算 12*8")
    assert "  would have matched too: rule 3 (match='12*8')\n" in capsys.readouterr().out


def test_a_step_without_a_loop_has_no_turns() -> None:
    assert rules(find_step("03"), "") == 0
    with pytest.raises(UsageError, match="has no turns to look at; without INPUT its rules are"):
        rules(find_step("03"), "你好")


@pytest.mark.parametrize("step", find_steps().values(), ids=lambda step: str(step.name))
def test_the_shipped_rules_give_no_reason_to_complain(step: Path) -> None:
    report = call_in_child(ROOT, "labs.rule_debugger:report_of", step.name, "")
    assert report["lines"][1:] == ["", "Every rule can be reached."]


def odd(*matches: str | None) -> list[str]:
    return oddities([Rule("reply", match=match) for match in matches])


@pytest.mark.parametrize("everything", [None, ""])
def test_a_rule_behind_one_that_matches_everything_can_never_be_reached(
    everything: str | None,
) -> None:
    (found,) = odd(everything, "a", None)
    assert found.startswith(
        "rule 2 (match='a'), rule 3 (the fallback) can never be reached: rule 1"
    )
    assert found.endswith(" stands before and matches everything")


@pytest.mark.parametrize(("early", "late"), [("calc 9", "calc 99"), ("a", "a"), ("1*", "21*2")])
def test_a_rule_behind_one_that_matches_all_of_it_can_never_be_reached(
    early: str, late: str
) -> None:
    assert odd("calc 9999", early, late, None)[0] == (
        f"rule 3 (match={late!r}) can never be reached: rule 2 (match={early!r}) stands before "
        "and matches all of it"
    )


def test_a_rule_that_can_never_be_reached_is_told_once() -> None:
    found = odd("calc 99", "calc 9", "calc 9", None)
    assert ["rule 3" in line for line in found] == [True, False]


@pytest.mark.parametrize(
    ("long", "short"), [("calc 99", "calc 9"), ("calc 99", "alc 99"), ("帮我算", "算")]
)
def test_a_match_that_ends_in_the_middle_of_a_word_may_be_too_short(long: str, short: str) -> None:
    assert odd(long, short, None) == [
        f"rule 2 (match={short!r}) also matches all that rule 1 (match={long!r}) does, "
        "and only the order keeps them apart: is it too short?"
    ]


@pytest.mark.parametrize(("special", "general"), [("calc 99", "calc"), ("1*2", "1*"), ("a", "")])
def test_a_general_rule_may_stand_behind_a_special_one(special: str, general: str) -> None:
    assert odd(special, general, *([None] if general else [])) == []


def test_a_missing_fallback_is_told() -> None:
    assert odd("a") == ["There is no fallback: a key that nothing matches ends in an error."]
