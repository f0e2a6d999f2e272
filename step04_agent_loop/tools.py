"""The tools of this step: a name and a function each, nothing checked, rough on purpose."""

import operator
import re
from collections.abc import Awaitable, Callable
from decimal import Decimal, localcontext

ToolHandler = Callable[[dict[str, object]], Awaitable[str]]

# A regular expression can do little, and so can whoever writes the expression: no eval here.
OPERATION = re.compile(
    r"\s*(-?[0-9]{1,100}(?:\.[0-9]{1,100})?)"
    r"\s*([-+*/])"
    r"\s*(-?[0-9]{1,100}(?:\.[0-9]{1,100})?)\s*"
)
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


async def calc(args: dict[str, object]) -> str:
    """Work out one operation on two numbers, such as 12*8, and return the answer in words."""
    expression = str(args.get("expression"))
    operation = OPERATION.fullmatch(expression)
    if operation is None:
        return f"无法解析表达式：{expression}"
    left, sign, right = operation.groups()
    if sign == "/" and not Decimal(right):
        return "除数不能为 0"
    return calculate(left, sign, right)


def calculate(left: str, sign: str, right: str) -> str:
    """Return the result as a person writes it: 96 and 0.3, not 96.0 and 0.30000000000000004."""
    # This precision is enough for + - * to be exact; a division is rounded to it.
    with localcontext(prec=max(28, len(left) + len(right))):
        result = OPERATORS[sign](Decimal(left), Decimal(right))
        # Without the zeros at the end; adding 0 takes the sign off -0.
        return f"{result.normalize() + 0:f}"


def create_tools() -> dict[str, ToolHandler]:
    """Return the tools by the names that the model calls them by."""
    return {"calc": calc}
