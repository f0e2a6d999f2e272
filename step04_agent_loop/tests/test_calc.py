"""calc of this step: nothing checked, but no wrong number and no waiting either."""

import pytest

from ..tools import create_tools


@pytest.mark.parametrize(
    ("expression", "answer"),
    [
        ("12*8", "96"),
        (" 100 - 1 ", "99"),
        ("3/4", "0.75"),
        ("6/3", "2"),
        ("0.1+0.2", "0.3"),
        ("2--3", "5"),
        ("0*-5", "0"),
        ("5*0", "0"),
        ("10*10", "100"),
        ("1/10000000", "0.0000001"),
        ("1/3", "0.3333333333333333333333333333"),
        ("9" * 100 + "*" + "9" * 100, str((10**100 - 1) ** 2)),
        ("1/0", "除数不能为 0"),
        ("0/0", "除数不能为 0"),
        ("1+", "无法解析表达式：1+"),
        ("__import__('os')", "无法解析表达式：__import__('os')"),
    ],
)
async def test_an_operation_gives_the_answer_people_expect(expression: str, answer: str) -> None:
    assert await create_tools()["calc"]({"expression": expression}) == answer


async def test_arguments_are_taken_as_they_come() -> None:
    assert await create_tools()["calc"]({}) == "无法解析表达式：None"
