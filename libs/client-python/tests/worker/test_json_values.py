"""Values on their way to JSON."""

import enum
from dataclasses import dataclass
from typing import Any

import pytest

from forge_client.worker.canonical import canonical_json, digest_of
from forge_client.worker.json_values import to_json, utf16_length, well_formed


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Point:
    x: float
    colour: Colour


def circular() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def test_dataclasses_enums_and_tuples_have_a_json_form() -> None:
    assert to_json({"points": (Point(1.5, Colour.RED),), "none": None}) == '{"points":[{"x":1.5,"colour":"red"}],"none":null}'


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("inf"), "result is inf"),
        ({"a": [1, float("nan")]}, r"result\.a\[1\] is nan"),
        ({1: "a"}, "the key 1"),
        ({"a": {2, 3}}, r"result\.a is an instance of set"),
        (b"bytes", "an instance of bytes"),
        ("half of \ud83d", "lone surrogate"),
        ({"\ud83d": 1}, "lone surrogate"),
        (circular(), "contains itself"),
        (Point, "an instance of type"),
    ],
)
def test_what_json_can_not_hold_exactly_is_refused_by_its_path(value: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        to_json(value)


def test_text_is_made_such_that_every_store_can_hold_it() -> None:
    assert well_formed("a\0b\ud83dc👩") == "a\ufffdb\ufffdc👩"
    assert utf16_length("a👩b") == 4


@pytest.mark.parametrize(
    ("value", "text"),
    [
        # The examples of RFC 8785 and of ECMAScript's number format.
        ({"b": 1, "a": [True, None, "ü\n"], "\u20ac": 2, "\U0001f600": 3, "\ufb33": 4}, '{"a":[true,null,"ü\\n"],"b":1,"€":2,"😀":3,"\ufb33":4}'),
        (333333333.33333329, "333333333.3333333"),
        (1e30, "1e+30"),
        (4.50, "4.5"),
        (2e-3, "0.002"),
        (1e-27, "1e-27"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (123456789012345680000.0, "123456789012345680000"),
        (0.000001, "0.000001"),
        (1.5e-7, "1.5e-7"),
        (-0.0, "0"),
        (-12.0, "-12"),
        (0.5, "0.5"),
        (10, "10"),
    ],
)
def test_canonical_json_is_that_of_the_standard(value: Any, text: str) -> None:
    assert canonical_json(value) == text


def test_a_digest_does_not_depend_on_the_order_of_keys() -> None:
    assert digest_of({"a": 1, "b": 2.0}) == digest_of({"b": 2, "a": 1})
    with pytest.raises(ValueError, match="no JSON form"):
        digest_of([float("nan")])
