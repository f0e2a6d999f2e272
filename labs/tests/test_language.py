"""English and Chinese: every sentence of the tools is in both, with the same places to fill in."""

import ast
import string
from pathlib import Path

import pytest

from labs.commands import COMMANDS
from shared.language import chinese_of, speaks_chinese
from shared.steps import ROOT

FLOORS = [ROOT / "shared", ROOT / "labs", ROOT / "playground"]


def said_in(floor: Path) -> set[str]:
    """Return every sentence that the code of a floor says."""
    found = set()
    for path in floor.rglob("*.py"):
        if {"tests", ".venv", "node_modules"} & set(path.relative_to(floor).parts):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="say"), args=[ast.Constant(value=str(text)), *_]):
                    found.add(text)
    return found


def said_in_help() -> set[str]:
    """Return what the table of commands gives the front door to say."""
    found = {text for command in COMMANDS for text in (command.group, command.help)}
    return found | {a.help for command in COMMANDS for a in command.arguments if a.help}


def places_in(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_every_sentence_has_its_chinese_and_no_chinese_is_left_over(floor: Path) -> None:
    said = said_in(floor) | (said_in_help() if floor.name == "labs" else set())
    assert said == set(chinese_of(floor / "chinese.toml"))


@pytest.mark.parametrize("floor", FLOORS, ids=lambda floor: floor.name)
def test_both_languages_have_the_same_places_to_fill_in(floor: Path) -> None:
    for english, chinese in chinese_of(floor / "chinese.toml").items():
        assert places_in(english) == places_in(chinese), english


@pytest.mark.parametrize(
    ("environment", "chinese"),
    [
        ({"LANG": "zh_CN.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LANG": "C"}, False),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, False),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW.UTF-8"}, True),
        ({"LANG": "en_US.UTF-8", "LAB_LANG": "zh"}, True),
        ({"LANG": "zh_CN.UTF-8", "LAB_LANG": "en"}, False),
        ({"LANG": "zh_CN.UTF-8", "LAB_LANG": ""}, True),
    ],
)
def test_the_locale_decides_unless_lab_lang_does(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], chinese: bool
) -> None:
    for name in ("LAB_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert speaks_chinese() == chinese
