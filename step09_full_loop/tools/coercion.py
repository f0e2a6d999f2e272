"""Coercion: a model that writes "3" where a number belongs has said clearly enough what it means.

It is done on a copy, before the schema is checked, and by a table (the README has it). What the
table does not convert stays as it is, and then the check refuses it.
"""

import copy
import math
import re
from collections.abc import Callable, Mapping
from typing import cast

# A schema is JSON: what stands under its keywords may be anything.
Schema = Mapping[str, object]
Fits = Callable[[object, object], bool]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
WITH_BASE = re.compile(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+")
LONGEST_NUMBER = 100  # characters


def coerced(schema: object, value: object, fits: Fits) -> object:
    """Return a copy of a value, converted where the schema asks for another type.

    `fits` says whether a value fits a schema as it is.
    """
    if not isinstance(schema, Mapping):
        return copy.deepcopy(value)
    for member in listed(schema.get("allOf")):
        value = coerced(member, value, fits)
    for keyword in ("anyOf", "oneOf"):
        attempts = ((one, coerced(one, value, fits)) for one in listed(schema.get(keyword)))
        value = next((changed for one, changed in attempts if fits(one, changed)), value)
    types = listed(schema.get("type"))
    if len(types) == 1 or not any(fits({"type": one}, value) for one in types):
        conversions = (converted(value, one) for one in types)
        value = next((changed for changed in conversions if changed is not value), value)
    match value:
        case dict() if "object" in types:
            return coerced_object(schema, value, fits)
        case list() if "array" in types:
            return [coerced(schema.get("items"), item, fits) for item in value]
    return copy.deepcopy(value)


def listed(found: object) -> list[object]:
    """Return what stands under a keyword as a list; a type may be written without one."""
    if isinstance(found, str):
        return [found]
    return found if isinstance(found, list) else []


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
        case "integer", float() if value.is_integer():
            return int(value)
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
            return str(int(value) if value.is_integer() and abs(value) < 1e21 else value)
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
    if not math.isfinite(number):
        return text
    if number.is_integer() and "e" not in digits.lower():
        return int(digits.partition(".")[0] or 0)  # Exact, however many digits there are.
    return int(number) if number.is_integer() else number
