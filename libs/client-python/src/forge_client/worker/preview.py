"""What a call would do, told before anybody decides on it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from forge_client.worker.canonical import canonical_json
from forge_client.worker.json_values import to_plain, well_formed

_TITLE_LENGTH_MAX = 256
_FACTS_BYTES_MAX = 8 * 1024
_RULE_KEY_LENGTH_MAX = 512
_PATHS_MAX = 256
_RISKS = ("read", "change", "execute")


@dataclass(frozen=True)
class Preview:
    """What one call of a tool would do. People see the title and the diff; the gate decides by the risk and the rule's key."""

    # One line for people; what is longer than 256 characters is cut.
    title: str
    # A unified diff of what would change.
    diff: str = ""
    # What this call does at most, where that is less than the tool's risk.
    risk: Literal["read", "change", "execute"] | None = None
    # What must still be so when the call is made, as at most 8 KiB of JSON: it is found again right before, and a call for which it differs is not made.
    facts: Any = None
    # Names exactly what a remembered rule may stand for: equal for two calls only where who allowed one has seen all that the other does. Empty: no rule.
    rule_key: str = ""
    # The rule in words; what is longer than 256 characters is cut.
    rule_title: str = ""
    # That it touches, relative to the workspace; the first 256.
    paths: Sequence[str] = ()


def preview_json(told: object, tool_risk: str) -> dict[str, Any]:
    """What crosses to the worker. Raises ValueError for what is no preview, or one that can't be kept."""
    if not isinstance(told, Preview):
        raise ValueError(f"a preview must be an instance of Preview, not of {type(told).__name__}")
    if told.risk is not None and told.risk not in _RISKS[: _RISKS.index(tool_risk) + 1]:
        raise ValueError(f"the preview's risk is {told.risk!r}: it must be {' or '.join(_RISKS[: _RISKS.index(tool_risk) + 1])}, no more than the tool's")
    if isinstance(told.paths, str) or not _are_texts((told.title, told.diff, told.rule_key, told.rule_title, *told.paths)):
        raise ValueError("the preview's title, diff, rule_key and rule_title must be str, and its paths a list of str")
    if len(told.rule_key) > _RULE_KEY_LENGTH_MAX:
        raise ValueError(f"the preview's rule_key has {len(told.rule_key)} characters: at most {_RULE_KEY_LENGTH_MAX}")
    facts = "" if told.facts is None else canonical_json(to_plain(told.facts))
    size = len(facts.encode())
    if size > _FACTS_BYTES_MAX:
        raise ValueError(f"the preview's facts have {size} bytes: at most {_FACTS_BYTES_MAX}; a digest of them says the same")
    return {
        "title": _line(told.title),
        "diff": well_formed(told.diff),
        "risk": told.risk,
        "facts": facts,
        "rule_key": well_formed(told.rule_key),
        "rule_title": _line(told.rule_title),
        "paths": [well_formed(path) for path in told.paths[:_PATHS_MAX]],
    }


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _line(text: str) -> str:
    """What would end a line or move a reader's cursor is shown as `?`."""
    cut = well_formed(text)[:_TITLE_LENGTH_MAX]
    return "".join("?" if character < " " or "\x7f" <= character < "\xa0" else character for character in cut)
