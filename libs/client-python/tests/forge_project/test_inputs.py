"""What a function is given."""

import copy
import json
from typing import Any

import pytest

from forge_project.inputs import Inputs, is_whole_state

STATE = {"inputs": {"topic": "given"}, "steps": {"a": {"x": 1}}, "runtime": {"run_id": "r"}}


@pytest.fixture
def fetched() -> list[int]:
    return []


@pytest.fixture
def inputs(fetched: list[int]) -> Inputs:
    def fetch() -> dict[str, Any]:
        fetched.append(1)
        return copy.deepcopy(STATE)

    return Inputs({"topic": "mapped"}, fetch)


def test_what_is_mapped_is_read_without_the_state(inputs: Inputs, fetched: list[int]) -> None:
    assert inputs["topic"] == "mapped"
    assert inputs.get("topic") == "mapped"
    assert inputs.get("other", 3) == 3
    assert "topic" in inputs
    assert "other" not in inputs
    with pytest.raises(KeyError):
        inputs["other"]
    assert fetched == []


@pytest.mark.parametrize(
    "look",
    [
        lambda given: given["steps"]["a"],
        lambda given: given.get("steps")["a"],
        lambda given: ("inputs" in given) and given["steps"]["a"],
        lambda given: dict(given)["steps"]["a"],
        lambda given: {**given}["steps"]["a"],
        lambda given: given.copy()["steps"]["a"],
        lambda given: copy.deepcopy(given)["steps"]["a"],
        lambda given: json.loads(json.dumps(given))["steps"]["a"],
        lambda given: dict(given.items())["steps"]["a"],
        lambda given: given.pop("steps")["a"],
        lambda given: given.setdefault("steps", {})["a"],
        lambda given: next(given[name] for name in given if name == "steps")["a"],
        lambda given: (given | {})["steps"]["a"],
    ],
)
def test_the_state_is_there_however_it_is_looked_at(inputs: Inputs, fetched: list[int], look: Any) -> None:
    assert look(inputs) == {"x": 1}
    assert fetched == [1]


def test_what_is_mapped_wins(inputs: Inputs) -> None:
    assert dict(inputs) == {**STATE, "topic": "mapped"}
    assert inputs == {**STATE, "topic": "mapped"}
    assert len(inputs) == 4
    assert "mapped" in repr(inputs)


def test_a_step_that_maps_nothing_is_known_by_its_run() -> None:
    assert is_whole_state(STATE, "r")
    assert not is_whole_state(STATE, "another")
    assert not is_whole_state({"inputs": {}, "steps": {}, "runtime": 1}, "r")
    assert not is_whole_state({**STATE, "more": 1}, "r")
