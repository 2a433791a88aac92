"""Schemas from type hints, and values of those types from JSON."""

import dataclasses
import enum
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Optional, TypedDict, Union

import pytest

from forge_client.worker import ToolContext
from forge_client.worker.schema import ArgumentsError, parameters_of, shape_of


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


@dataclass
class Place:
    city: Annotated[str, "As people there write it"]
    country: str | None = None
    tags: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.city:
            raise ValueError("a city has a name")


class Window(TypedDict, total=False):
    width: int
    height: int


class Full(TypedDict):
    name: str
    window: Window


@dataclass
class Node:
    children: list["Node"]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array", "items": {}}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[str], {"type": "array", "items": {"type": "string"}}),
        (dict, {"type": "object"}),
        (dict[str, Any], {"type": "object"}),
        (Mapping[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}),  # noqa: UP045
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),
        (Colour, {"enum": ["red", "blue"]}),
        (Annotated[int, "How many"], {"type": "integer", "description": "How many"}),
        (Annotated[list[Annotated[int, "One"]], 5, "All"], {"type": "array", "items": {"type": "integer", "description": "One"}, "description": "All"}),
        (Window, {"type": "object", "properties": {"width": {"type": "integer"}, "height": {"type": "integer"}}, "additionalProperties": False}),
        (
            Place,
            {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "As people there write it"},
                    "country": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["city"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_a_hint_is_a_schema(hint: Any, schema: dict[str, Any]) -> None:
    assert shape_of(hint).schema == schema


@pytest.mark.parametrize("hint", [object(), bytes, set[int], tuple[int, int], Callable[[], int], dict[int, str], Literal[b"x"], Node, complex])
def test_a_hint_without_a_json_form_is_refused(hint: Any) -> None:
    with pytest.raises(TypeError):
        shape_of(hint)


@pytest.mark.parametrize(
    ("hint", "value", "result"),
    [
        (int, 3.0, 3),
        (float, 3, 3.0),
        (str | None, None, None),
        (int | str, "3", "3"),
        (Literal[1, True], True, True),
        (Colour, "blue", Colour.BLUE),
        (Level, 1, Level.LOW),
        (list[Colour], ["red"], [Colour.RED]),
        (dict[str, Place], {"a": {"city": "Köln"}}, {"a": Place("Köln")}),
        (Full, {"name": "n", "window": {"width": 1}}, {"name": "n", "window": {"width": 1}}),
        (Any, [{"a": None}], [{"a": None}]),
    ],
)
def test_a_value_becomes_what_its_hint_says(hint: Any, value: Any, result: Any) -> None:
    converted = shape_of(hint).convert(value, ())
    assert converted == result
    assert type(converted) is type(result)


@pytest.mark.parametrize(
    ("hint", "value", "said"),
    [
        (int, True, "arguments must be an integer, not true"),
        (int, 1.5, "arguments must be an integer, not 1.5"),
        (int, json.loads("1e400"), "arguments must be an integer"),
        (bool, 1, "arguments must be a boolean, not 1"),
        (str, None, "arguments must be a string, not null"),
        (list[int], [1, "2"], 'arguments.1 must be an integer, not "2"'),
        (list[int], {"a": 1}, "arguments must be an array, not an object"),
        (dict[str, int], {"a": []}, "arguments.a must be an integer, not an array"),
        (Literal["a", 1], True, 'arguments must be one of "a", 1, not true'),
        (Colour, "green", 'arguments must be one of "red", "blue", not "green"'),
        (str | None, 3, "arguments must be a string, not 3"),
        (int | list[int], "x", 'arguments matches none of the types that it may have, as "x"'),
        (Place, {"country": "DE"}, "arguments.city is missing"),
        (Place, {"city": "Bonn", "zip": 1}, "arguments.zip is not known here; there are city, country, tags"),
        (Place, {"city": ""}, "arguments is refused: a city has a name"),
        (Full, {"name": "n", "window": {"width": "wide"}}, 'arguments.window.width must be an integer, not "wide"'),
        (list[Place], [{"city": "Bonn"}, {"city": 3}], "arguments.1.city must be a string, not 3"),
    ],
)
def test_a_value_that_does_not_match_is_refused_by_name(hint: Any, value: Any, said: str) -> None:
    with pytest.raises(ArgumentsError) as raised:
        shape_of(hint).convert(value, ())
    assert str(raised.value).startswith(said)


class TestParameters:
    def test_are_the_properties_with_their_defaults_and_without_the_context(self) -> None:
        def tool(ctx: ToolContext, place: Place, times: int = 2, colour: Colour = Colour.RED, odd: Any = dataclasses.MISSING) -> None: ...

        parameters = parameters_of(tool, (ToolContext,))
        assert parameters.context_name == "ctx"
        assert parameters.schema["required"] == ["place"]
        assert parameters.schema["additionalProperties"] is False
        assert parameters.schema["properties"]["times"] == {"type": "integer", "default": 2}
        assert parameters.schema["properties"]["colour"] == {"enum": ["red", "blue"], "default": "red"}
        # JSON can't hold it, so it is not shown; it is the default all the same.
        assert parameters.schema["properties"]["odd"] == {}
        assert parameters.convert({"place": {"city": "Bonn"}}) == {"place": Place("Bonn")}

    def test_without_a_hint_or_a_name_are_refused(self) -> None:
        def plain(x) -> None: ...  # type: ignore[no-untyped-def]

        def many(*x: int) -> None: ...

        def unnamed(x: int, /) -> None: ...

        def unknown(x: "Missing") -> None: ...  # type: ignore[name-defined]  # noqa: F821

        for function, said in ((plain, "no type hint"), (many, "by name"), (unnamed, "by name"), (unknown, "can't be resolved")):
            with pytest.raises(TypeError, match=said):
                parameters_of(function, ())

    def test_larger_than_a_schema_may_be_are_refused(self) -> None:
        def tool(x: Annotated[int, "long " * 4000]) -> None: ...

        with pytest.raises(TypeError, match="at most 16384"):
            parameters_of(tool, ())
