"""make rules: which rule answers at each turn, and which can hardly be meant."""

import pytest

from labs.rule_debugger import oddities, rules
from shared.steps import find_step
from step04_agent_loop.fake_model import Rule
from step04_agent_loop.rules import RULES


def test_every_turn_shows_its_key_and_its_rule(capsys: pytest.CaptureFixture[str]) -> None:
    rules(find_step("04"), "帮我算 12*8")
    assert capsys.readouterr().out.splitlines() == [
        "step04_agent_loop/rules.py: 7 rules, the first that matches answers",
        "",
        "turn 1, match key '帮我算 12*8'",
        "  answered by rule 3 (match='12*8'): 这个我算一下。",
        "  would have matched too: rule 7 (the fallback)",
        "",
        "turn 2, match key 'toolResult:calc 96'",
        "  answered by rule 4 (match='toolResult:calc 96'): 算好了：12*8 = 96。",
        "  would have matched too: rule 7 (the fallback)",
        "",
        "Every rule can be reached.",
    ]


def test_a_sentence_without_a_rule_falls_to_the_fallback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rules(find_step("04"), "帮我算 100-1")
    assert "  answered by rule 7 (the fallback): 这句话没有" in capsys.readouterr().out


def test_a_rule_behind_the_fallback_can_never_be_reached() -> None:
    (odd,) = oddities([*RULES, Rule("new", match="100-1")])
    assert odd.startswith("rule 8 (match='100-1') can never be reached: rule 7 (the fallback)")


def test_a_short_match_before_a_long_one_takes_its_place() -> None:
    (odd,) = oddities([Rule("a", match="calc 9"), Rule("b", match="calc 99"), Rule("c")])
    assert odd.startswith("rule 2 (match='calc 99') can never be reached: rule 1 (match='calc 9')")


def test_a_short_match_behind_a_long_one_is_told() -> None:
    (odd,) = oddities([Rule("a", match="calc 99"), Rule("b", match="calc 9"), Rule("c")])
    assert odd.startswith("rule 2 (match='calc 9') is so short that it matches all of rule 1")


def test_a_missing_fallback_is_told() -> None:
    assert oddities([Rule("a", match="a")]) == [
        "There is no fallback: a key that nothing matches ends in an error."
    ]
