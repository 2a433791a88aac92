"""Reads what a server answers."""

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from forge_client._gen.forge.event.v1 import event_service_pb2
from forge_client.command_header import VERSION_MAJOR
from forge_client.errors import TRANSPORT, ErrorCode, ForgeError

R = TypeVar("R", bound=Message)


def read_response(kind: type[R], body: bytes) -> R:
    """The message that came. Here and not in gRPC, one half of which passes over what it can't decode.

    Raises:
        ForgeError: storage_error, TRANSPORT of what is no such message; unsupported_version of an event of another major version.
    """
    try:
        response = kind.FromString(body)
    except DecodeError as error:
        message = f"the answer can't be read as {kind.DESCRIPTOR.full_name}"
        raise ForgeError(ErrorCode.STORAGE_ERROR, message, reason=TRANSPORT, retryable=True, origin="client") from error
    if isinstance(response, event_service_pb2.SubscribeEventsResponse) and response.WhichOneof("kind") == "event":
        _check_version(response)
    return response


def _check_version(response: event_service_pb2.SubscribeEventsResponse) -> None:
    """An event of another major version may mean something else by its fields."""
    event = response.event
    if not event.HasField("version") or event.version.major == VERSION_MAJOR:
        return
    version = f"{event.version.major}.{event.version.minor}"
    raise ForgeError(
        ErrorCode.UNSUPPORTED_VERSION,
        f"event {event.seq} of stream {event.stream.id} is of protocol version {version}, and this client speaks {VERSION_MAJOR}.x: use a newer client",
        origin="client",
        related_ids=[event.stream.id],
        metadata={"seq": str(event.seq), "supported": f"{VERSION_MAJOR}.0"},
    )
