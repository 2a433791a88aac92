import pytest

from forge_client import ErrorCode, ForgeClient, ForgeError
from forge_client._connection import to_connection


@pytest.mark.parametrize(
    ("url", "target", "is_secure", "prefix"),
    [
        ("http://127.0.0.1:7233", "dns:127.0.0.1:7233", False, ""),
        ("http://forge.example/", "dns:forge.example:80", False, ""),
        ("https://forge.example", "dns:forge.example:443", True, ""),
        ("https://forge.example:8443/behind/proxy/", "dns:forge.example:8443", True, "/behind/proxy"),
        ("http://[::1]:7233", "dns:[::1]:7233", False, ""),
    ],
)
def test_an_address_is_a_target(url: str, target: str, is_secure: bool, prefix: str) -> None:
    connection = to_connection(url, "token", None)
    assert (connection.target, connection.is_secure, connection.path_prefix) == (target, is_secure, prefix)


def test_a_call_says_who_calls_and_in_which_namespace() -> None:
    assert to_connection("http://a", "secret", "team").metadata == (("authorization", "Bearer secret"), ("forge-namespace", "team"))
    assert to_connection("http://a", "secret", None).metadata == (("authorization", "Bearer secret"),)


@pytest.mark.parametrize("url", ["", "127.0.0.1:7233", "ftp://a", "http://", "http://a:port", "http://[::1", "http://a:99999"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ForgeError) as raised:
        ForgeClient(url, "token")
    assert (raised.value.code, raised.value.metadata) == (ErrorCode.VALIDATION, {"field": "url"})


@pytest.mark.parametrize(
    ("token", "namespace", "field"), [("", None, "token"), ("a\nb", None, "token"), ("é", None, "token"), ("ok", "two words", "namespace")]
)
def test_what_no_header_can_hold_is_refused_and_not_shown(token: str, namespace: str | None, field: str) -> None:
    with pytest.raises(ForgeError) as raised:
        ForgeClient("http://a", token, namespace=namespace)
    assert (raised.value.code, raised.value.metadata) == (ErrorCode.VALIDATION, {"field": field})
    assert (token or namespace) not in raised.value.message.split(" ")
