"""What a gRPC call failed with, as the one error class."""

from collections.abc import Iterable, Iterator
from contextlib import suppress

import grpc
from google.protobuf.message import DecodeError
from google.rpc import status_pb2

from forge_client._gen.forge.common.v1 import common_pb2
from forge_client.errors import TRANSPORT, ErrorCode, ForgeError, given_up

# For statuses that came without a ForgeError: from a proxy, the library, or the network. What is not here is a broken connection: the library says
# UNAVAILABLE, INTERNAL, UNKNOWN or CANCELLED for one, by what broke.
_CODES = {
    grpc.StatusCode.INVALID_ARGUMENT: ErrorCode.VALIDATION,
    grpc.StatusCode.DEADLINE_EXCEEDED: ErrorCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.NOT_FOUND: ErrorCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS: ErrorCode.CONFLICT,
    grpc.StatusCode.FAILED_PRECONDITION: ErrorCode.CONFLICT,
    grpc.StatusCode.PERMISSION_DENIED: ErrorCode.PERMISSION_DENIED,
    grpc.StatusCode.RESOURCE_EXHAUSTED: ErrorCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.UNIMPLEMENTED: ErrorCode.UNSUPPORTED,
    grpc.StatusCode.UNAUTHENTICATED: ErrorCode.UNAUTHENTICATED,
}
_DETAILS = "grpc-status-details-bin"


def from_status(error: grpc.RpcError, stopped: bool) -> ForgeError:
    """The error of a failed call. `stopped` says that this side gave the call up: one that was cancelled without it broke on the way."""
    # Both kinds of call raise an error that is the call's end as well.
    if not isinstance(error, (grpc.Call, grpc.aio.AioRpcError)):
        return ForgeError(ErrorCode.STORAGE_ERROR, str(error), reason=TRANSPORT, origin="client")
    detail = _detail(error.trailing_metadata())
    if detail is not None:
        return ForgeError.from_detail(detail)
    if stopped:
        return given_up()
    message = error.details() or ""
    code = _CODES.get(error.code())
    if code is None:
        # A connection that broke in the middle is told as an internal or unknown error by some layers; no answer of the server has no details.
        return ForgeError(ErrorCode.STORAGE_ERROR, message, reason=TRANSPORT, retryable=True, origin="client")
    return ForgeError(code, message, retryable=False, origin="client")


def _detail(metadata: Iterable[tuple[str, str | bytes]] | None) -> common_pb2.ForgeError | None:
    """The ForgeError in the details of a status; None where there is none, or none that can be read: code and message tell enough then."""
    for key, value in metadata or ():
        if key == _DETAILS and isinstance(value, bytes):
            return next(_readable(value), None)
    return None


def _readable(status: bytes) -> Iterator[common_pb2.ForgeError]:
    try:
        details = status_pb2.Status.FromString(status).details
    except DecodeError:
        return
    for detail in details:
        if detail.TypeName() == common_pb2.ForgeError.DESCRIPTOR.full_name:
            with suppress(DecodeError):
                yield common_pb2.ForgeError.FromString(detail.value)
