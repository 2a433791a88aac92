"""The JSON Schema of a function's parameters, from their type hints, and what makes their values of JSON."""

import dataclasses
import enum
import inspect
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, is_typeddict

from forge_client.worker.json_values import to_plain

# What the protocol lets a tool's schema have, in bytes of UTF-8.
SCHEMA_BYTES_MAX = 16 * 1024

# Types within types; deeper ones are a mistake, for example a type that contains itself.
DEPTH_MAX = 32


class ArgumentsError(Exception):
    """Arguments that don't match; `field` is the path of the culprit, for example `arguments.items.0.name`."""

    def __init__(self, path: "Path", what: str) -> None:
        self.field = ".".join(("arguments", *path))
        super().__init__(f"{self.field} {what}")


Path = tuple[str, ...]


class Shape(NamedTuple):
    """A type as JSON Schema, and what makes its value of a JSON value at a path. Raises ArgumentsError."""

    schema: dict[str, Any]
    convert: Callable[[Any, Path], Any]


class Field(NamedTuple):
    """A named value: a parameter, a field of a dataclass, a key of a TypedDict."""

    name: str
    hint: Any
    required: bool
    default: Any = None
    has_default: bool = False


class Parameters(NamedTuple):
    """What a function is called with."""

    schema: dict[str, Any]
    convert: Callable[[Any], dict[str, Any]]
    # The parameter that gets the call's context; None where there is none.
    context_name: str | None


def parameters_of(function: Callable[..., Any], context_types: tuple[type, ...]) -> Parameters:
    """The parameters of a function. Raises TypeError where one has no hint, or a hint that has no JSON form."""
    name = getattr(function, "__qualname__", repr(function))
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        raise TypeError(f"{name}: a type hint can't be resolved: {error}") from error
    fields: list[Field] = []
    context_name = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"{name}: parameter {parameter.name} can't be given by name; use plain parameters")
        if parameter.name not in hints:
            raise TypeError(f"{name}: parameter {parameter.name} has no type hint, so no schema can be made of it")
        hint = hints[parameter.name]
        if isinstance(hint, type) and issubclass(hint, context_types):
            context_name = parameter.name
            continue
        has_default = parameter.default is not parameter.empty
        fields.append(Field(parameter.name, hint, not has_default, parameter.default, has_default))
    try:
        shape = _object_shape(fields, dict, 0)
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from error
    size = len(json.dumps(shape.schema).encode())
    if size > SCHEMA_BYTES_MAX:
        raise TypeError(f"{name}: its schema has {size} bytes: at most {SCHEMA_BYTES_MAX}")
    return Parameters(shape.schema, lambda value: shape.convert(value, ()), context_name)


def shape_of(hint: Any, depth: int = 0) -> Shape:
    """The shape of a type hint. Raises TypeError where it has no JSON form."""
    if depth > DEPTH_MAX:
        raise TypeError("a type that contains itself has no schema here; use dict")
    origin = get_origin(hint)
    if origin is Annotated:
        return _annotated(hint, depth)
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if origin is Literal:
        return _choice([(value, value) for value in get_args(hint)], "Literal")
    if origin in (Union, types.UnionType):
        return _union(get_args(hint), depth)
    if hint in (list, Sequence) or origin in (list, Sequence):
        return _array(get_args(hint), depth)
    if hint in (dict, Mapping) or origin in (dict, Mapping):
        return _mapping(get_args(hint), depth)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _choice([(member.value, member) for member in hint], hint.__name__)
    if is_typeddict(hint):
        return _typed_dict(hint, depth)
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _dataclass(hint, depth)
    raise TypeError(f"{_name_of(hint)} has no JSON form: use str, int, float, bool, list, dict, Optional, Literal, an Enum, a dataclass or a TypedDict")


def _annotated(hint: Any, depth: int) -> Shape:
    inner, *notes = get_args(hint)
    shape = shape_of(inner, depth)
    descriptions = [note for note in notes if isinstance(note, str)]
    return Shape({**shape.schema, "description": descriptions[0]}, shape.convert) if descriptions else shape


def _of_type(schema_type: str, what: str, is_value: Callable[[Any], bool], make: Callable[[Any], Any] = lambda value: value) -> Shape:
    def convert(value: Any, path: Path) -> Any:
        if not is_value(value):
            raise ArgumentsError(path, f"must be {what}, not {describe(value)}")
        return make(value)

    return Shape({"type": schema_type}, convert)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_SIMPLE: dict[Any, Shape] = {
    str: _of_type("string", "a string", lambda value: isinstance(value, str)),
    bool: _of_type("boolean", "a boolean", lambda value: isinstance(value, bool)),
    # JSON has one kind of number: 3.0 is an integer as well.
    int: _of_type("integer", "an integer", lambda value: _is_number(value) and (isinstance(value, int) or value.is_integer()), int),
    float: _of_type("number", "a number", _is_number, float),
    None: _of_type("null", "null", lambda value: value is None),
    type(None): _of_type("null", "null", lambda value: value is None),
    Any: Shape({}, lambda value, path: value),
    object: Shape({}, lambda value, path: value),
}


def _choice(choices: list[tuple[Any, Any]], name: str) -> Shape:
    for value, _ in choices:
        if not isinstance(value, (str, int, bool)) and value is not None:
            raise TypeError(f"{name} holds {value!r}: only strings, integers, booleans and None have a JSON form in it")

    def convert(value: Any, path: Path) -> Any:
        for choice, result in choices:
            # True is not 1 here, though Python says that they are equal.
            if type(value) is type(choice) and value == choice:
                return result
        raise ArgumentsError(path, f"must be one of {', '.join(json.dumps(choice) for choice, _ in choices)}, not {describe(value)}")

    return Shape({"enum": [value for value, _ in choices]}, convert)


def _union(hints: tuple[Any, ...], depth: int) -> Shape:
    shapes = [shape_of(hint, depth + 1) for hint in hints]
    meant = [shape for shape, hint in zip(shapes, hints, strict=True) if hint is not type(None)]

    def convert(value: Any, path: Path) -> Any:
        if value is None and len(meant) < len(shapes):
            return None
        errors: list[ArgumentsError] = []
        for shape in meant:
            try:
                return shape.convert(value, path)
            except ArgumentsError as error:
                errors.append(error)
        if len(errors) == 1:
            raise errors[0]
        raise ArgumentsError(path, f"matches none of the types that it may have, as {describe(value)}")

    return Shape({"anyOf": [shape.schema for shape in shapes]}, convert)


def _array(arguments: tuple[Any, ...], depth: int) -> Shape:
    item = shape_of(arguments[0] if arguments else Any, depth + 1)

    def convert(value: Any, path: Path) -> list[Any]:
        if not isinstance(value, list):
            raise ArgumentsError(path, f"must be an array, not {describe(value)}")
        return [item.convert(element, (*path, str(index))) for index, element in enumerate(value)]

    return Shape({"type": "array", "items": item.schema}, convert)


def _mapping(arguments: tuple[Any, ...], depth: int) -> Shape:
    if arguments and arguments[0] not in (str, Any):
        raise TypeError("the keys of a dict must be str, as they are in JSON")
    item = shape_of(arguments[1] if arguments else Any, depth + 1)

    def convert(value: Any, path: Path) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise ArgumentsError(path, f"must be an object, not {describe(value)}")
        return {key: item.convert(element, (*path, key)) for key, element in value.items()}

    return Shape({"type": "object", "additionalProperties": item.schema} if item.schema else {"type": "object"}, convert)


def _typed_dict(hint: Any, depth: int) -> Shape:
    hints = typing.get_type_hints(hint, include_extras=True)
    fields = [Field(name, _without_required(hints[name]), name in hint.__required_keys__) for name in hints]
    return _object_shape(fields, dict, depth)


def _without_required(hint: Any) -> Any:
    """`Required[T]` and `NotRequired[T]` say what `__required_keys__` says; from typing_extensions before Python 3.11."""
    return get_args(hint)[0] if getattr(get_origin(hint), "_name", None) in ("Required", "NotRequired") else hint


def _dataclass(hint: type, depth: int) -> Shape:
    hints = typing.get_type_hints(hint, include_extras=True)
    fields = []
    for field in dataclasses.fields(hint):
        if not field.init:
            continue
        has_default = field.default is not dataclasses.MISSING
        required = not has_default and field.default_factory is dataclasses.MISSING
        fields.append(Field(field.name, hints[field.name], required, field.default, has_default))
    return _object_shape(fields, hint, depth)


def _object_shape(fields: list[Field], make: Callable[..., Any], depth: int) -> Shape:
    shapes = {field.name: shape_of(field.hint, depth + 1) for field in fields}
    required = [field.name for field in fields if field.required]
    schema: dict[str, Any] = {"type": "object", "properties": {field.name: _with_default(shapes[field.name].schema, field) for field in fields}}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False

    def convert(value: Any, path: Path) -> Any:
        if not isinstance(value, dict):
            raise ArgumentsError(path, f"must be an object, not {describe(value)}")
        for key in value:
            if key not in shapes:
                raise ArgumentsError((*path, key), f"is not known here{_known(shapes)}")
        for name in required:
            if name not in value:
                raise ArgumentsError((*path, name), "is missing")
        converted = {name: shape.convert(value[name], (*path, name)) for name, shape in shapes.items() if name in value}
        try:
            return make(**converted)
        except (ValueError, TypeError) as error:
            # A dataclass may check more than its types in __post_init__.
            raise ArgumentsError(path, f"is refused: {error}") from error

    return Shape(schema, convert)


def _with_default(schema: dict[str, Any], field: Field) -> dict[str, Any]:
    if not field.has_default:
        return schema
    try:
        return {**schema, "default": to_plain(field.default)}
    except ValueError:
        # A default that JSON can't hold is still one; the schema just can't show it.
        return schema


def _known(shapes: dict[str, Shape]) -> str:
    return f"; there are {', '.join(shapes)}" if shapes else ""


def describe(value: Any) -> str:
    """A JSON value in a few words, for messages."""
    if isinstance(value, str):
        return json.dumps(value if len(value) <= 40 else f"{value[:40]}...", ensure_ascii=False)
    if isinstance(value, dict):
        return "an object"
    return "an array" if isinstance(value, list) else json.dumps(value)


def _name_of(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
