from typing import Any

import pytest

from forge_client import ErrorCode, ForgeError
from forge_client._request import check_timeout, to_request
from forge_client.protocol.session import CreateSessionRequest, ForkSessionRequest, StartTurnRequest

LONE = "a\ud800b"


def refusal(kind: type[Any], **fields: object) -> ForgeError:
    with pytest.raises(ForgeError) as raised:
        to_request(kind, None, fields)
    return raised.value


def test_holds_the_fields_that_were_given() -> None:
    request = to_request(CreateSessionRequest, None, {"header": {"command_id": "1"}, "title": "A", "labels": {"team": "x"}, "queue": None})
    assert request == CreateSessionRequest(header={"command_id": "1"}, title="A", labels={"team": "x"})


def test_is_the_message_as_it_is() -> None:
    request = CreateSessionRequest(title="A")
    assert to_request(CreateSessionRequest, request, {"title": None}) is request


def test_is_a_message_or_its_fields() -> None:
    with pytest.raises(TypeError, match="not both: title"):
        to_request(CreateSessionRequest, CreateSessionRequest(), {"title": "A"})
    with pytest.raises(TypeError, match="a CreateSessionRequest is wanted, not a StartTurnRequest"):
        to_request(CreateSessionRequest, StartTurnRequest(), {})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("kind", "fields", "field"),
    [
        (CreateSessionRequest, {"queue": "ok", "title": LONE}, "title"),
        (CreateSessionRequest, {"agent": {"model": "demo/echo", "system": LONE}}, "agent.system"),
        (CreateSessionRequest, {"agent": {"tools": ["files.read", LONE]}}, "agent.tools[1]"),
        (CreateSessionRequest, {"labels": {"team": LONE}}, "labels.team"),
        (CreateSessionRequest, {"labels": {LONE: "x"}}, "labels"),
        (StartTurnRequest, {"input": [{"text": {"text": "ok"}}, {"text": {"text": LONE}}]}, "input[1].text.text"),
    ],
)
def test_names_the_text_that_has_no_utf_8(kind: type[Any], fields: dict[str, object], field: str) -> None:
    error = refusal(kind, **fields)
    assert (error.code, error.metadata, error.origin, error.retryable) == (ErrorCode.VALIDATION, {"field": field}, "client", False)
    assert "lone surrogate" in error.message


@pytest.mark.parametrize(
    ("kind", "fields", "field"),
    [
        (ForkSessionRequest, {"session_id": "1", "through_seq": -1}, "through_seq"),
        (ForkSessionRequest, {"session_id": 7}, "session_id"),
        (CreateSessionRequest, {"title": "ok", "agent": {"modell": "demo/echo"}}, "agent"),
    ],
)
def test_names_the_field_that_can_hold_no_such_value(kind: type[Any], fields: dict[str, object], field: str) -> None:
    error = refusal(kind, **fields)
    assert (error.code, error.metadata) == (ErrorCode.VALIDATION, {"field": field})


@pytest.mark.parametrize("text", ["\0", "\u2028", "👩‍🚀", "\U0010ffff"])
def test_takes_every_text_that_is_one(text: str) -> None:
    assert to_request(CreateSessionRequest, None, {"title": text}).title == text


@pytest.mark.parametrize("timeout", [None, 0, 0.5, 2_147_483])
def test_has_a_timeout_in_seconds(timeout: float | None) -> None:
    assert check_timeout(timeout) == timeout


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf"), 2_147_484])
def test_refuses_a_timeout_that_is_none(timeout: float) -> None:
    with pytest.raises(ForgeError) as raised:
        check_timeout(timeout)
    assert (raised.value.code, raised.value.metadata) == (ErrorCode.VALIDATION, {"field": "timeout"})
