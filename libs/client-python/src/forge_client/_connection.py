"""How a connection to a server is made, the same for both clients."""

from dataclasses import dataclass
from urllib.parse import urlsplit

import grpc

from forge_client.errors import ForgeError

# A connection that says nothing for so long is asked whether it is still there, so that a subscriber notices when the other machine is gone.
_PING_INTERVAL_MS = 20_000
_PING_ANSWER_MS_MAX = 20_000
# An artifact of 16 MiB with its envelope, and some air: as much as the server reads.
_REQUEST_BYTES_MAX = 22 * 1024 * 1024
# Far more than any answer should be: the longest is a range of a conversation.
_ANSWER_BYTES_MAX = 64 * 1024 * 1024
# As between other attempts: who calls again after a failure must not find that nobody tries to connect.
_RECONNECT_MS_MIN = 50
_RECONNECT_MS_MAX = 2_000
# A server that has not said a word for so long is tried anew. A busy machine needs seconds; a connection that nobody answers outlives its client by as much.
_CONNECT_MS_MAX = 10_000

CHANNEL_OPTIONS: list[tuple[str, int]] = [
    ("grpc.max_send_message_length", _REQUEST_BYTES_MAX),
    ("grpc.max_receive_message_length", _ANSWER_BYTES_MAX),
    ("grpc.keepalive_time_ms", _PING_INTERVAL_MS),
    ("grpc.keepalive_timeout_ms", _PING_ANSWER_MS_MAX),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", _RECONNECT_MS_MIN),
    ("grpc.min_reconnect_backoff_ms", _CONNECT_MS_MAX),
    ("grpc.max_reconnect_backoff_ms", _RECONNECT_MS_MAX),
    # Left to the caller: whether a call is made again, and by which way it goes.
    ("grpc.enable_retries", 0),
    ("grpc.service_config_disable_resolution", 1),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),
]


@dataclass(frozen=True)
class Connection:
    """Where a server is, and who calls."""

    target: str
    is_secure: bool
    path_prefix: str
    metadata: tuple[tuple[str, str], ...]

    def credentials(self) -> grpc.ChannelCredentials:
        return grpc.ssl_channel_credentials()


def to_connection(url: str, token: str, namespace: str | None) -> Connection:
    """Raises: ForgeError: validation of an address, a token or a namespace that can't be one."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise ForgeError.validation("url", f"{url!r} is no address of a server: {error}") from error
    if parts.scheme not in ("http", "https") or not host:
        raise ForgeError.validation("url", f"{url!r} is no address of a server, such as http://127.0.0.1:7233")
    is_secure = parts.scheme == "https"
    metadata = [("authorization", f"Bearer {_header('token', token)}")]
    if namespace is not None:
        metadata.append(("forge-namespace", _header("namespace", namespace)))
    name = f"[{host}]" if ":" in host else host
    return Connection(f"dns:{name}:{port or (443 if is_secure else 80)}", is_secure, parts.path.rstrip("/"), tuple(metadata))


def _header(field: str, value: str) -> str:
    # The value itself stays out of the message: it may be a secret.
    if not value or not all("!" <= character <= "~" for character in value):
        raise ForgeError.validation(field, f"{field} must be visible ASCII characters, at least one")
    return value
