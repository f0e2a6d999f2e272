"""Coercion: a model that writes "3" where a number belongs has said clearly enough what it means.

It is done on a copy, before the schema is checked, and by a table (the README has it). What the
table does not convert stays as it is, and then the check refuses it.
"""

import copy
import re
from collections.abc import Callable, Mapping
from typing import cast

# A schema is JSON: what stands under its keywords may be anything.
Schema = Mapping[str, object]
Fits = Callable[[Schema, object], bool]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
WITH_BASE = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+")
LONGEST_NUMBER = 100  # characters


def coerced(schema: object, value: object, fits: Fits) -> object:
    """Return a copy of a value, converted where the schema asks for another type.

    `fits` says whether a value fits a schema as it is.
    """
    if not isinstance(schema, Mapping):
        return copy.deepcopy(value)
    for keyword in ("anyOf", "oneOf"):
        members = schema.get(keyword)
        if isinstance(members, list):
            candidates = (coerced(member, value, fits) for member in members)
            pairs = zip(members, candidates, strict=True)
            return next((one for member, one in pairs if fits(member, one)), copy.deepcopy(value))
    wanted = schema.get("type")
    if isinstance(wanted, list):
        if any(fits({**schema, "type": one}, value) for one in wanted):
            return copy.deepcopy(value)
        attempts = ((one, coerced({**schema, "type": one}, value, fits)) for one in wanted)
        return next((v for one, v in attempts if fits({"type": one}, v)), copy.deepcopy(value))
    match value:
        case dict():
            return coerced_object(schema, value, fits)
        case list():
            items = schema.get("items")
            return [coerced(items, item, fits) for item in value]
        case _:
            return converted(value, wanted)


def coerced_object(schema: Schema, value: dict[str, object], fits: Fits) -> dict[str, object]:
    properties = schema.get("properties")
    known = cast(Schema, properties if isinstance(properties, Mapping) else {})
    others = schema.get("additionalProperties")
    return {name: coerced(known.get(name, others), one, fits) for name, one in value.items()}


def converted(value: object, wanted: object) -> object:
    """Return a single value as the type that is wanted, or as it is where the table says so."""
    match wanted, value:
        case "number" | "integer", bool() | None:
            return int(value or 0)
        case "number" | "integer", str():
            return number_in(value)
        case "boolean", "true" | "false":
            return value == "true"
        case "boolean", None:
            return False
        case "boolean", int() | float() if value in (0, 1):
            return bool(value)
        case "string", None:
            return ""
        case "string", bool():
            return str(value).lower()
        case "string", int():
            return str(value)
        case "string", float():
            return str(int(value) if value.is_integer() else value)
        case "null", "" | False | 0:
            return None
    return value


def number_in(text: str) -> object:
    """Return the number that a text stands for, or the text."""
    digits = text.strip()
    if len(digits) > LONGEST_NUMBER:
        return text
    if WITH_BASE.fullmatch(digits):
        return int(digits, 0)
    if not NUMBER.fullmatch(digits):
        return text
    number = float(digits)
    if number.is_integer() and "e" not in digits.lower():
        return int(digits.partition(".")[0] or 0)  # Exact, however many digits there are.
    return int(number) if number.is_integer() else number
