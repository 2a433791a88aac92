"""What a function is given: its step's inputs on top of the run's state."""

from collections.abc import Callable, Iterator
from typing import Any

State = dict[str, Any]

_ROOTS = {"inputs", "steps", "runtime"}


def is_whole_state(inputs: State, run_id: str) -> bool:
    """Whether a step that maps nothing was given the state itself."""
    runtime = inputs.get("runtime")
    return inputs.keys() == _ROOTS and isinstance(runtime, dict) and runtime.get("run_id") == run_id


class Inputs(dict[str, Any]):
    """
    The mapped inputs, and below them `inputs`, `steps` and `runtime` of the run. The state is fetched when something is asked for that was not mapped: a step
    of a long run costs its own inputs, not all that came before it.
    """

    def __init__(self, mapped: State, fetch: Callable[[], State]) -> None:
        super().__init__(mapped)
        self._fetch: Callable[[], State] | None = fetch

    def _fill(self) -> None:
        fetch, self._fetch = self._fetch, None
        if fetch is not None:
            for name, value in fetch().items():
                super().setdefault(name, value)

    def _fill_for(self, key: object) -> None:
        if key in _ROOTS and not super().__contains__(key):
            self._fill()

    def __getitem__(self, key: str) -> Any:
        self._fill_for(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._fill_for(key)
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self._fill_for(key)
        return super().get(key, default)

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return super().__iter__()

    def __len__(self) -> int:
        self._fill()
        return super().__len__()

    def __eq__(self, other: object) -> bool:
        self._fill()
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        self._fill()
        return super().__repr__()

    def keys(self) -> Any:
        self._fill()
        return super().keys()

    def values(self) -> Any:
        self._fill()
        return super().values()

    def items(self) -> Any:
        self._fill()
        return super().items()

    def copy(self) -> State:
        self._fill()
        return dict(super().items())

    def pop(self, key: str, *default: Any) -> Any:
        self._fill_for(key)
        return super().pop(key, *default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        self._fill_for(key)
        return super().setdefault(key, default)
