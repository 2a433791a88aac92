import uuid

from forge_client import command_header, run_stream, session_stream, text_part
from forge_client.protocol import common, session


def test_a_header_has_a_fresh_id_and_the_version() -> None:
    first, second = command_header(), command_header()
    assert uuid.UUID(first.command_id) != uuid.UUID(second.command_id)
    assert (first.version.major, first.version.minor, first.HasField("expected_seq")) == (1, 0, False)


def test_a_header_says_what_it_is_told() -> None:
    header = command_header("mine", expected_seq=0, correlation_id="request 7")
    assert header == common.CommandHeader(version={"major": 1}, command_id="mine", expected_seq=0, correlation_id="request 7")
    assert header.HasField("expected_seq")


def test_short_ways_to_write_what_most_requests_hold() -> None:
    assert session_stream("1") == common.StreamRef(kind="STREAM_KIND_SESSION", id="1")
    assert run_stream("2") == common.StreamRef(kind="STREAM_KIND_RUN", id="2")
    assert text_part("hello") == session.Part(text={"text": "hello"})
