"""Canonical JSON (RFC 8785), for digests of requests."""

import hashlib
import json
import math
from typing import Any


def canonical_json(value: Any) -> str:
    """Raises ValueError for a number that is not finite."""
    if isinstance(value, dict):
        # By UTF-16 code units, which is another order than that of characters above U+FFFF.
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be", "surrogatepass"))
        return "{" + ",".join(f"{_text(key)}:{canonical_json(item)}" for key, item in members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(canonical_json(item) for item in value) + "]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return _number(value)
    return json.dumps(value)


def digest_of(value: Any) -> str:
    """SHA-256 of a value's canonical JSON, 64 lower-case hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(value: float) -> str:
    """As ECMAScript writes it: the shortest digits that mean this number, plain from 1e-6 up to 1e21."""
    if not math.isfinite(value):
        raise ValueError(f"{value} has no JSON form")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    digits, exponent = _shortest(abs(value))
    if 0 <= exponent < 21:
        whole = digits.ljust(exponent + 1, "0")
        point = exponent + 1
        return sign + (whole if len(digits) <= point else f"{digits[:point]}.{digits[point:]}")
    if -7 < exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if exponent > 0 else '-'}{abs(exponent)}"


def _shortest(value: float) -> tuple[str, int]:
    """The shortest digits without a point, and the exponent of the first; Python's repr finds the same ones."""
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    first = len(whole) - 1 if whole.strip("0") else -(len(fraction) - len(fraction.lstrip("0"))) - 1
    return digits.rstrip("0"), first + int(exponent or "0")
