"""The third task of step05: an enum in the type of a schema, in validate, and in calc."""

import collections.abc
import importlib
import json
import re
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, Required, get_args, get_origin

from shared.shipped import Shipped

from ..language import say
from ..verdict import FoundError, Verdict, not_yet
from .gates import Step, errors_of

# A list of strings is each of these; a type checker takes calc's list for any of them.
LISTS = (
    list,
    collections.abc.MutableSequence,
    collections.abc.Sequence,
    collections.abc.Reversible,
    collections.abc.Collection,
    collections.abc.Iterable,
    collections.abc.Container,
)
TYPES = Literal["string", "number", "boolean"]
WRAPPERS = (Annotated, getattr(typing, "ReadOnly", Annotated))
LONG = "很长的取值" * 25
# Allowed values, and a few that are not: close to one of them, or matched by it in some other way.
ENUMS: list[tuple[list[str], list[str]]] = [
    (["low", "high"], ["mid", "", "LOW", "ｌｏｗ", "low、high", "low,high", "low|high"]),
    (["only"], ["on", "onl", "only only", "['only']"]),
    (["lo", "low", "lower"], ["l", "lowe", "lowest", "lo low"]),
    (["Low", "LOW", "low"], ["lOW", "Lo"]),
    (["1", "2", "true", "null", "None"], ["1.0", "True", "nul", "12"]),
    (["a.c", "a+", "(x)", "[y]", "^$", r"\d", "a|b", "*", "?"], ["abc", "aa", "x", "y", "5", "a"]),
    (["{z}", "{0}", "{}", "%s", "%", "$x"], ["z", "0", "s"]),
    (['say "hi"', "it's", "`x`", r"back\slash"], ["say hi", "its", "x"]),
    (["a、b", "a,b", "a b", "a/b", "a；b"], ["a", "b", "a-b"]),
    (["", " ", " low ", "low"], ["  ", " low", "low "]),
    (["加", "减", "乘", "除"], ["加减", "和", "乘除"]),
    (["四舍五入", "保留小数", "取整"], ["四舍", "小数"]),
    ([f"choice-number-{number:02}" for number in range(20)], ["choice-number-20", "choice"]),
    ([f"{LONG}一", f"{LONG}二"], [LONG, f"{LONG}三"]),
]
NO_TEXT = (1, 1.5, True, None, ["low"], {"low": 1})


def untouched(package: str) -> Verdict | None:
    """Tell whether neither the type nor validate knows of an enum."""
    schema = {"type": "object", "properties": {"e": {"type": "string", "enum": ["a"]}}}
    if "enum" in hints_of(package) or errors_of(Step(package).validate, schema, {"e": "b"}):
        return None
    return not_yet(say("neither PropertySchema nor validate knows enum yet"))


def hints_of(package: str, *, extras: bool = True) -> dict[str, Any]:
    """Return the annotations of PropertySchema as a type checker reads them, in quotes or not."""
    module = importlib.import_module(f"{package}.tools.tool_types")
    known = vars(typing) | vars(collections.abc)
    names = {name: value for name, value in known.items() if name not in vars(module)}
    try:
        return typing.get_type_hints(module.PropertySchema, localns=names, include_extras=extras)
    except Exception as error:
        found = say("an annotation of PropertySchema cannot be read: {error}", error=error)
        raise FoundError(not_yet(found)) from None


def type_verdict(package: str) -> Verdict | None:
    """Return what is wrong with the type of an enum: it is an optional list of strings."""
    words = hints_of(package)
    if "enum" not in words:
        return not_yet(
            say("validate knows enum, the type PropertySchema does not: mypy refuses the enum"),
            guess=say("in tools/tool_types.py, beside description: enum: NotRequired[list[str]]"),
        )
    if not is_optional(package, "enum"):
        return not_yet(
            say("enum is required now: every parameter without one has become a type error"),
            guess=say("wrap it: NotRequired[list[str]]"),
        )
    holds = hints_of(package, extras=False)
    if not is_list_of_strings(holds["enum"]):
        return not_yet(
            say("the type of an enum is not a list of strings"),
            where=say("enum in PropertySchema"),
            expected="list[str]",
            seen=re.sub(r"<class '(\w+)'>", r"\1", str(holds["enum"])),
        )
    if holds.get("type") != TYPES or holds.get("description") is not str:
        return not_yet(say("type or description in PropertySchema is not what it was"))
    if not is_optional(package, "description"):
        return not_yet(say("description in PropertySchema is not optional any more"))
    return None


def is_optional(package: str, word: str) -> bool:
    schema = importlib.import_module(f"{package}.tools.tool_types").PropertySchema
    annotation = hints_of(package)[word]
    while get_origin(annotation) in WRAPPERS:
        annotation = get_args(annotation)[0]
    if (origin := get_origin(annotation)) in (NotRequired, Required):
        return bool(origin is NotRequired)
    return word in getattr(schema, "__optional_keys__", ())


def is_list_of_strings(holds: Any) -> bool:
    holds = meant_by(holds)
    return get_origin(holds) in LISTS and [meant_by(one) for one in get_args(holds)] == [str]


def meant_by(alias: Any) -> Any:
    """Return what an alias made by `type` stands for."""
    while hasattr(alias, "__value__"):
        alias = alias.__value__
    return alias


def enum_verdict(package: str) -> Verdict | None:
    """Return what is wrong with validate where a parameter has an enum."""
    step = Step(package)
    if not errors_of(step.validate, *one("level", ["low", "high"], "mid")):
        changed = Shipped(package, Path.cwd()).changed_definitions()
        guess = say("add the check in tools/validate.py, behind that of the type")
        if "agent_loop.run_tool" in changed:
            guess = say("run_tool is changed; the check belongs in validate, which it asks")
        return not_yet(say("validate takes a value that is not in the enum"), guess=guess)
    return next(enum_faults(step.validate), None)


def one(name: str, allowed: list[str], value: object) -> tuple[Any, Any]:
    """Return a schema with one parameter, and arguments for it."""
    schema = {"type": "object", "properties": {name: {"type": "string", "enum": list(allowed)}}}
    return schema, {name: value}


def enum_faults(validate: Any) -> Iterator[Verdict]:
    for allowed, strangers in ENUMS:
        for value in allowed:
            copied = json.loads(json.dumps(value))  # Equal, and not the same object.
            if told := errors_of(validate, *one("level", allowed, copied)):
                found = say("validate does not simply pass on a value that is in the enum")
                yield enum_fault(found, allowed, value, say("(no error)"), told)
        for value in strangers:
            told = errors_of(validate, *one("level", allowed, value))
            if len(told) != 1:
                found = say("validate takes a value that is not in the enum")
                if told:
                    found = say("a value that is not in the enum is more than one error")
                yield enum_fault(found, allowed, value, say("one error"), told)
        for name in ("level", "op"):
            told = errors_of(validate, *one(name, allowed, "¿"))
            if not names_all(told[0], [name, *allowed]):
                found = say("the error does not say enough to do better")
                wanted = say("{name}, and every allowed value in full", name=name)
                yield enum_fault(found, allowed, "¿", wanted, told)
    for odd in NO_TEXT:
        told = errors_of(validate, *one("level", ["low", "high"], odd))
        if len(told) != 1 or "应为 string" not in told[0]:
            found = say("a value of the wrong type should be one error, that of its type")
            yield enum_fault(found, ["low", "high"], odd, "参数 level 应为 string，…", told)
    yield from several_faults(validate)


def enum_fault(
    found: str, allowed: list[str], value: object, wanted: str, told: list[str]
) -> Verdict:
    return not_yet(
        found,
        where=say(
            "the errors for {value}, where {allowed} is allowed",
            value=repr(value),
            allowed=shown(allowed),
        ),
        expected=wanted,
        seen="；".join(told) or say("(no error)"),
    )


def shown(allowed: list[str]) -> str:
    """Return the first few of the allowed values, and not all of a long one."""
    some = [repr(value if len(value) < 30 else f"{value[:20]}…") for value in allowed[:3]]
    return ", ".join([*some, "…"] if len(allowed) > 3 else some)


def names_all(told: str, allowed: list[str]) -> bool:
    """Return whether an error holds every value at a place of its own, as it is or escaped."""
    for value in sorted(allowed, key=len, reverse=True):
        ways = [value, repr(value)[1:-1], json.dumps(value)[1:-1], re.escape(value)]
        ways.append(json.dumps(value, ensure_ascii=False)[1:-1])
        found = next((way for way in ways if way in told), None)
        if found is None:
            return False
        told = told.replace(found, "\0", 1)
    return True


def several_faults(validate: Any) -> Iterator[Verdict]:
    """Try parameters with and without an enum beside each other."""
    size, unit = ["small", "large"], ["厘米", "英寸", "像素"]
    properties = {
        "size": {"type": "string", "enum": size},
        "text": {"type": "string"},
        "unit": {"type": "string", "enum": unit},
        "count": {"type": "number"},
    }
    schema = {"type": "object", "properties": properties, "required": ["text"]}
    # The arguments, and for each error what it has to name.
    tries: list[tuple[dict[str, object], list[list[str]]]] = [
        ({"text": "任意"}, []),
        ({"text": "任意", "size": "small", "unit": "像素"}, []),
        ({"text": "任意", "size": "huge", "unit": "米"}, [["size", *size], ["unit", *unit]]),
        ({"text": "任意", "size": "small", "unit": "米"}, [["unit", *unit]]),
        ({"text": "任意", "size": "huge", "unit": "像素"}, [["size", *size]]),
        (
            {"size": "huge", "count": "3", "unit": "米", "x": 1},
            [["size", *size], ["unit", *unit], ["text"], ["count"], ["不认识的参数 x"]],
        ),
    ]
    for arguments, wanted in tries:
        told = errors_of(validate, schema, arguments)
        if len(told) != len(wanted) or not all(
            any(names_all(error, words) for error in told) for words in wanted
        ):
            yield not_yet(
                say("validate does not tell all errors of a call with several parameters"),
                where=say("the errors for {arguments}", arguments=arguments),
                expected=say(
                    "one about each of: {names}",
                    names=", ".join(words[0] for words in wanted) or say("(nothing)"),
                ),
                seen="；".join(told) or say("(no error)"),
                guess=say("append the new error to the others and go on; all are told at once"),
            )


def op_verdict(package: str) -> Verdict | None:
    """Try the parameter `op` of calc as the loop would."""
    step = Step(package)
    parameters = step.tools.create_builtin_tools().get("calc").parameters
    allowed = parameters["properties"].get("op", {}).get("enum")
    if not allowed:
        return not_yet(
            say("calc has no parameter op with an enum"), guess=say("add it in tools/calc.py")
        )
    if not isinstance(allowed, list) or not all(isinstance(value, str) for value in allowed):
        return not_yet(
            say("the enum of op is not a list of strings"),
            where=say("the enum of op"),
            expected='["...", "..."]',
            seen=repr(allowed),
        )
    if "op" in parameters.get("required", []):
        return not_yet(say("op is required: every call that worked before is refused now"))
    # What op does is up to the reader; that an allowed value is let through is not.
    for value in allowed:
        for expression in ("12*8", "10/4", "100-1"):
            answer = step.call("calc", {"expression": expression, "op": value}, Path())
            if answer.startswith(("参数校验失败", "工具执行失败")):
                return not_yet(
                    say(
                        "calc does not work with op={value}, which its enum allows",
                        value=repr(value),
                    ),
                    where=say("the result of {expression}", expression=expression),
                    expected=say("a result"),
                    seen=answer,
                )
    answer = step.call("calc", {"expression": "12*8", "op": f"{''.join(allowed)}?"}, Path())
    if not answer.startswith("参数校验失败"):
        return not_yet(say("calc takes a value of op that is not in its enum"))
    return None
