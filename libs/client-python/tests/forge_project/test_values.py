"""What a step's output may be."""

import json
from typing import Any

import pytest

from forge_project.refusal import RefusalError
from forge_project.values import result_json


def test_a_dict_is_kept_as_json_has_it() -> None:
    value = {"a": (1, 2.5, None, True, "ü"), 3: {"b": []}, None: 1, True: 2}
    assert json.loads(result_json(value)) == {"a": [1, 2.5, None, True, "ü"], "3": {"b": []}, "null": 1, "true": 2}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "returned None"),
        ([], "an instance of list"),
        ("text", "an instance of str"),
        ({"a": object()}, r"result\.a is an instance of object"),
        ({"a": [{"b": {1}}]}, r"result\.a\[0\]\.b is an instance of set"),
        ({"a": float("inf")}, r"result\.a is inf"),
        ({"a": "\ud800"}, r"result\.a holds half of a character"),
        ({(1, 2): 3}, "a key of type tuple"),
        ({"steps": {}}, "can't have the key steps"),
        ({"a": "x" * (17 * 1024 * 1024)}, "bytes, more than"),
    ],
)
def test_anything_else_is_refused_with_its_place(value: Any, said: str) -> None:
    with pytest.raises(RefusalError, match=said):
        result_json(value)


def test_a_value_that_contains_itself_is_refused() -> None:
    value: dict[str, Any] = {}
    value["again"] = [value]
    with pytest.raises(RefusalError, match="contains itself"):
        result_json(value)
