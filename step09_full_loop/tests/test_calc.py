"""calc: exact where it can be, and a clear answer to everything else."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ..tools.calc import CALC, calculate
from ..tools.tool_types import ToolContext, ToolResult


async def calc(expression: str) -> ToolResult:
    return await CALC.execute({"expression": expression}, ToolContext(cwd=Path.cwd()))


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("12*8", "96"),
        (" 100 - 1 ", "99"),
        ("3/4", "0.75"),
        ("6/3", "2"),
        ("7-7", "0"),
        ("0.1+0.2", "0.3"),
        ("3000000-2911111.82", "88888.18"),
        ("1/3", "0.3333333333333333333333333333"),
        ("9007199254740993+0", "9007199254740993"),
        ("-5+2", "-3"),
        ("2--3", "5"),
        ("2*-3", "-6"),
        ("0*-5", "0"),
        ("10*10", "100"),
        ("1/10000000", "0.0000001"),
        ("1\u3000+\u30001", "2"),
        (" " * 50_000 + "1+1" + " " * 50_000, "2"),
        ("9" * 100 + "*" + "9" * 100, str((10**100 - 1) ** 2)),
    ],
)
async def test_an_operation_gives_the_number_people_expect(expression: str, answer: str) -> None:
    assert await calc(expression) == ToolResult(answer)


@pytest.mark.parametrize("expression", ["1/0", "0/0", "1/0.0", "1/-0"])
async def test_division_by_zero_is_an_error(expression: str) -> None:
    assert await calc(expression) == ToolResult("除数不能为 0", is_error=True)


@pytest.mark.parametrize(
    "expression",
    [
        "",
        " ",
        "1+",
        "-1",
        "1 2",
        "1+2+3",
        "((1))",
        "2**3",
        "²+1",
        "１２*８",
        "٣*2",
        "1e308*10",
        "nan+1",
        "True+1",
        "1+1; import os",
        "().__class__",
        "1+1\nimport os",
        "1+1\0",
        "9" * 101 + "+1",
    ],
)
async def test_an_expression_of_another_form_cannot_be_parsed(expression: str) -> None:
    assert await calc(expression) == ToolResult(f"无法解析表达式：{expression}", is_error=True)


@pytest.mark.parametrize(
    "expression",
    [
        "9" * 1_000_000,
        "1+" * 500_000,
        "1" + " " * 1_000_000 + "x",
        "(" * 1_000_000,
        f"0.{'9' * 1_000_000}+1",
    ],
)
async def test_an_endless_expression_is_refused_in_a_line(expression: str) -> None:
    answer = await calc(expression)
    assert answer.is_error
    assert len(answer.content) < 400


async def test_a_character_that_cannot_be_encoded_does_not_come_back() -> None:
    answer = await calc("1+1\ud800")
    assert answer == ToolResult("无法解析表达式：1+1\\ud800", is_error=True)


NUMBERS = st.integers(-(10**60), 10**60).map(str) | st.decimals(
    -(10**9), 10**9, allow_nan=False, places=6
).map("{:f}".format)


@given(NUMBERS, st.sampled_from("+-*"), NUMBERS)
def test_every_operation_but_division_is_exact(left: str, sign: str, right: str) -> None:
    a, b = Fraction(left), Fraction(right)
    exact = {"+": a + b, "-": a - b, "*": a * b}[sign]
    assert Fraction(calculate(left, sign, right)) == exact


@given(NUMBERS, NUMBERS.filter(lambda number: Fraction(number) != 0))
def test_division_is_right_to_28_digits(left: str, right: str) -> None:
    exact = Fraction(left) / Fraction(right)
    assert abs(Fraction(calculate(left, "/", right)) - exact) <= abs(exact) / 10**27
