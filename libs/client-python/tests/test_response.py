import pytest

from forge_client import ErrorCode, ForgeError, is_passing
from forge_client._response import read_response
from forge_client.protocol.event import SubscribeEventsResponse
from forge_client.protocol.session import CreateSessionResponse


def test_is_the_message_that_came_with_what_only_a_newer_server_knows() -> None:
    body = CreateSessionResponse(session_id="1", seq=2).SerializeToString() + b"\xf2\x3f\x03new"
    response = read_response(CreateSessionResponse, body)
    assert (response.session_id, response.seq, response.SerializeToString()) == ("1", 2, body)


def test_that_is_no_message_is_a_broken_connection() -> None:
    with pytest.raises(ForgeError) as raised:
        read_response(CreateSessionResponse, b"\xff\xff\xff")
    assert (raised.value.code, raised.value.reason, is_passing(raised.value)) == (ErrorCode.STORAGE_ERROR, "TRANSPORT", True)


@pytest.mark.parametrize("version", [None, {"major": 1}, {"major": 1, "minor": 9}])
def test_may_be_an_event_of_this_major_version(version: dict[str, int] | None) -> None:
    response = SubscribeEventsResponse(event={"seq": 1, "version": version})
    assert read_response(SubscribeEventsResponse, response.SerializeToString()) == response


@pytest.mark.parametrize("major", [0, 2])
def test_is_refused_where_it_is_an_event_of_another_major_version(major: int) -> None:
    response = SubscribeEventsResponse(event={"seq": 7, "version": {"major": major, "minor": 3}, "stream": {"id": "one"}})
    with pytest.raises(ForgeError) as raised:
        read_response(SubscribeEventsResponse, response.SerializeToString())
    error = raised.value
    assert (error.code, error.retryable, error.related_ids, error.metadata["seq"]) == (ErrorCode.UNSUPPORTED_VERSION, False, ("one",), "7")
