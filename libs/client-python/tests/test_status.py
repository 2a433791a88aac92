from dataclasses import dataclass, field

import grpc
import pytest
from google.protobuf.any_pb2 import Any
from google.rpc import status_pb2

from forge_client import ErrorCode, ForgeError, is_passing
from forge_client._status import from_status


@dataclass
class Failure(grpc.RpcError, grpc.Call):
    """A failed call, as both kinds of channel raise it."""

    status: grpc.StatusCode
    text: str = "no"
    metadata: list[tuple[str, str | bytes]] = field(default_factory=list)

    def code(self) -> grpc.StatusCode:
        return self.status

    def details(self) -> str:
        return self.text

    def trailing_metadata(self) -> list[tuple[str, str | bytes]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.metadata

    def initial_metadata(self) -> list[tuple[str, str | bytes]]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return []

    def is_active(self) -> bool:
        return False

    def time_remaining(self) -> float | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        return None

    def cancel(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        return False

    def add_callback(self, callback: object) -> bool:
        return False


def details_of(*values: object) -> list[tuple[str, str | bytes]]:
    status = status_pb2.Status(code=13, message="something else")
    for value in values:
        packed = Any()
        if isinstance(value, ForgeError):
            packed.Pack(value.detail)
        else:
            packed = Any(type_url="type.googleapis.com/forge.common.v1.ForgeError", value=b"\xff")
        status.details.append(packed)
    return [("x-other", "1"), ("grpc-status-details-bin", status.SerializeToString())]


@pytest.mark.parametrize("code", list(ErrorCode))
@pytest.mark.parametrize("stopped", [True, False])
def test_that_carries_an_error_is_that_error_whatever_else_it_says(code: ErrorCode, stopped: bool) -> None:
    error = ForgeError(code, "what happened", reason="SOME_REASON", retryable=True, origin="control-plane", related_ids=["1"], metadata={"field": "title"})
    assert from_status(Failure(grpc.StatusCode.UNKNOWN, metadata=details_of(error)), stopped).detail == error.detail


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, ErrorCode.VALIDATION),
        (grpc.StatusCode.NOT_FOUND, ErrorCode.NOT_FOUND),
        (grpc.StatusCode.ALREADY_EXISTS, ErrorCode.CONFLICT),
        (grpc.StatusCode.FAILED_PRECONDITION, ErrorCode.CONFLICT),
        (grpc.StatusCode.PERMISSION_DENIED, ErrorCode.PERMISSION_DENIED),
        (grpc.StatusCode.UNAUTHENTICATED, ErrorCode.UNAUTHENTICATED),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, ErrorCode.RESOURCE_EXHAUSTED),
        (grpc.StatusCode.UNIMPLEMENTED, ErrorCode.UNSUPPORTED),
        (grpc.StatusCode.DEADLINE_EXCEEDED, ErrorCode.DEADLINE_EXCEEDED),
    ],
)
def test_without_one_keeps_its_meaning_and_is_final(code: grpc.StatusCode, expected: ErrorCode) -> None:
    error = from_status(Failure(code), False)
    assert (error.code, error.reason, error.retryable, error.message, error.origin) == (expected, "", False, "no", "client")
    assert not is_passing(error)


@pytest.mark.parametrize("name", ["UNAVAILABLE", "ABORTED", "CANCELLED", "INTERNAL", "UNKNOWN", "DATA_LOSS", "OUT_OF_RANGE"])
def test_of_a_broken_connection_says_that_nobody_knows_what_happened_and_may_be_tried_again(name: str) -> None:
    error = from_status(Failure(grpc.StatusCode[name]), False)
    assert (error.code, error.reason, error.retryable) == (ErrorCode.STORAGE_ERROR, "TRANSPORT", True)
    assert is_passing(error)


@pytest.mark.parametrize("name", ["CANCELLED", "UNAVAILABLE", "UNKNOWN"])
def test_is_cancelled_where_this_side_gave_the_call_up(name: str) -> None:
    error = from_status(Failure(grpc.StatusCode[name]), True)
    assert error.code == ErrorCode.CANCELLED
    assert not is_passing(error)


@pytest.mark.parametrize("metadata", [[("grpc-status-details-bin", b"\xff\xff")], details_of("garbage")])
def test_with_details_that_are_garbage_is_taken_by_its_code(metadata: list[tuple[str, str | bytes]]) -> None:
    assert from_status(Failure(grpc.StatusCode.NOT_FOUND, metadata=metadata), False).code == ErrorCode.NOT_FOUND


def test_finds_its_error_behind_one_that_is_garbage() -> None:
    error = ForgeError(ErrorCode.CONFLICT, "two", reason="TWO")
    assert from_status(Failure(grpc.StatusCode.ABORTED, metadata=details_of("garbage", error)), False).reason == "TWO"


def test_of_an_error_that_is_no_call_is_a_broken_connection() -> None:
    error = from_status(grpc.RpcError("no channel"), False)
    assert (error.code, error.reason) == (ErrorCode.STORAGE_ERROR, "TRANSPORT")
