"""calc: one operation on two numbers."""

import operator
import re
from decimal import Decimal, localcontext
from typing import cast

from .tool_types import ToolContext, ToolDefinition, ToolResult, quoted

# A regular expression can do little, and so can whoever writes the expression: no eval here.
OPERATION = re.compile(
    r"\s*(-?[0-9]{1,100}(?:\.[0-9]{1,100})?)"
    r"\s*([-+*/])"
    r"\s*(-?[0-9]{1,100}(?:\.[0-9]{1,100})?)\s*"
)
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


async def calc(args: dict[str, object], context: ToolContext) -> ToolResult:
    """Work out one operation on two numbers, such as 12*8.

    Everything else, and a division by zero, come back as a result with `is_error`.
    """
    # cast checks nothing. It is right because validate has run before, and for no other reason.
    expression = cast(str, args.get("expression"))
    operation = OPERATION.fullmatch(expression)
    if operation is None:
        return ToolResult(f"无法解析表达式：{quoted(expression)}", is_error=True)
    left, sign, right = operation.groups()
    if sign == "/" and not Decimal(right):
        return ToolResult("除数不能为 0", is_error=True)
    return ToolResult(calculate(left, sign, right))


def calculate(left: str, sign: str, right: str) -> str:
    """Return the result as a person writes it: 96 and 0.3, not 96.0 and 0.30000000000000004."""
    # This precision is enough for + - * to be exact; a division is rounded to it.
    with localcontext(prec=max(28, len(left) + len(right))):
        result = OPERATORS[sign](Decimal(left), Decimal(right))
        # Without the zeros at the end; adding 0 takes the sign off -0.
        return f"{result.normalize() + 0:f}"


CALC = ToolDefinition(
    name="calc",
    description="做一次四则运算：两个数，中间一个 + - * / 号，小数点前后各不超过 100 位。",
    parameters={
        "type": "object",
        "properties": {"expression": {"type": "string", "description": "算式，例如 12*8"}},
        "required": ["expression"],
    },
    execute=calc,
)
