"""The one error class, with its closed set of codes."""

import enum
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from forge_client._gen.forge.common.v1 import common_pb2


class ErrorCode(enum.IntEnum):
    """What kind of failure it is. A code that a newer server has and this package does not is kept, and named UNKNOWN."""

    UNSPECIFIED = 0
    VALIDATION = 1
    NOT_FOUND = 2
    CONFLICT = 3
    UNSUPPORTED = 4
    UNSUPPORTED_VERSION = 5
    UNAUTHENTICATED = 6
    PERMISSION_DENIED = 7
    SANDBOX_VIOLATION = 8
    RESOURCE_EXHAUSTED = 9
    DEADLINE_EXCEEDED = 10
    CANCELLED = 11
    WORKER_LOST = 12
    PROVIDER_ERROR = 13
    STORAGE_ERROR = 14
    INTERNAL = 15

    @classmethod
    def _missing_(cls, value: object) -> "ErrorCode | None":
        if not isinstance(value, int):
            return None
        unknown = int.__new__(cls, value)
        unknown._name_ = f"UNKNOWN_{value}"
        unknown._value_ = value
        return unknown


RETRYABLE_BY_DEFAULT = frozenset({ErrorCode.RESOURCE_EXHAUSTED, ErrorCode.STORAGE_ERROR})

TRANSPORT = "TRANSPORT"
"""Reason of an error that the server never gave: the call may or may not have had its effect."""


class ForgeError(Exception):
    """What every call fails with: a closed code, a reason in capitals, and what to do.

    Attributes:
        code: What kind of failure it is.
        message: What happened, to which id, and what to do.
    """

    def __init__(
        self,
        code: int,
        message: str,
        *,
        reason: str = "",
        retryable: bool | None = None,
        origin: str = "",
        related_ids: Iterable[str] = (),
        metadata: Mapping[str, str] | None = None,
        retry_after: timedelta | None = None,
    ) -> None:
        super().__init__(message)
        self._detail = common_pb2.ForgeError(
            code=code,  # pyright: ignore[reportArgumentType] -- an open enum: any number is one.
            message=message,
            reason=reason,
            retryable=code in RETRYABLE_BY_DEFAULT if retryable is None else retryable,
            origin=origin,
            related_ids=related_ids,
            metadata=metadata,
            retry_after=retry_after,
        )

    @classmethod
    def from_detail(cls, detail: common_pb2.ForgeError) -> "ForgeError":
        """A ForgeError with exactly this wire form."""
        error = cls(detail.code, detail.message)
        error._detail = detail
        return error

    @classmethod
    def validation(cls, field: str, message: str, *, origin: str = "client") -> "ForgeError":
        """Bad input, naming the field."""
        return cls(ErrorCode.VALIDATION, message, origin=origin, metadata={"field": field})

    @property
    def detail(self) -> common_pb2.ForgeError:
        """Its wire form, what a newer server said in it included."""
        return self._detail

    @property
    def code(self) -> ErrorCode:
        return ErrorCode(self._detail.code)

    @property
    def reason(self) -> str:
        """A finer name in capitals, for example SEQ_MISMATCH; empty where the code says it all."""
        return self._detail.reason

    @property
    def message(self) -> str:
        return self._detail.message

    @property
    def retryable(self) -> bool:
        """Whether the same may succeed when it is tried again."""
        return self._detail.retryable

    @property
    def origin(self) -> str:
        """Who noticed it: "control-plane", "worker", "provider", "tool", "client"."""
        return self._detail.origin

    @property
    def related_ids(self) -> tuple[str, ...]:
        return tuple(self._detail.related_ids)

    @property
    def metadata(self) -> dict[str, str]:
        """For example `field`, `file`, `line`, `current_seq`."""
        return dict(self._detail.metadata)

    @property
    def retry_after(self) -> timedelta | None:
        """When a retry makes sense at the earliest, counted from when the error came."""
        return self._detail.retry_after.ToTimedelta() if self._detail.HasField("retry_after") else None

    def __str__(self) -> str:
        name = self.code.name.lower()
        return f"{name} ({self.reason}): {self.message}" if self.reason else f"{name}: {self.message}"

    def __reduce__(self) -> tuple[Any, ...]:
        # So that it crosses to another process whole, as in a pool of workers.
        return _restored, (self._detail.SerializeToString(),)


def _restored(detail: bytes) -> ForgeError:
    return ForgeError.from_detail(common_pb2.ForgeError.FromString(detail))


def client_closed() -> ForgeError:
    """What calls of a closed client fail with."""
    return ForgeError(ErrorCode.CANCELLED, "this client is closed", origin="client")


def given_up() -> ForgeError:
    """What a call fails with that this side did not want any more. Whether it had its effect is not known."""
    return ForgeError(ErrorCode.CANCELLED, "the call was given up by its caller", origin="client")
