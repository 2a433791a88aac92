import pickle
from datetime import timedelta

import pytest

from forge_client import ErrorCode, ForgeError
from forge_client.protocol import common

FULL = common.ForgeError(
    code="ERROR_CODE_CONFLICT",
    reason="TURN_ACTIVE",
    message="session 1 has an active turn",
    retryable=True,
    origin="control-plane",
    related_ids=["one", "two"],
    metadata={"turn_id": "2"},
    retry_after=timedelta(milliseconds=1500),
)


def test_has_the_codes_of_the_contract() -> None:
    names = {code.value: f"ERROR_CODE_{code.name}" for code in ErrorCode}
    assert names == {value.number: value.name for value in common.ErrorCode.DESCRIPTOR.values}


def test_says_everything_that_the_wire_form_says() -> None:
    error = ForgeError.from_detail(FULL)
    assert (error.code, error.reason, error.message) == (ErrorCode.CONFLICT, "TURN_ACTIVE", "session 1 has an active turn")
    assert (error.retryable, error.origin, error.related_ids) == (True, "control-plane", ("one", "two"))
    assert (error.metadata, error.retry_after) == ({"turn_id": "2"}, timedelta(seconds=1.5))
    assert str(error) == "conflict (TURN_ACTIVE): session 1 has an active turn"
    assert error.detail == FULL


def test_of_one_s_own_leaves_out_what_is_not_said() -> None:
    error = ForgeError(ErrorCode.NOT_FOUND, "no such run")
    assert error.detail == common.ForgeError(code="ERROR_CODE_NOT_FOUND", message="no such run")
    assert (error.retry_after, error.metadata, str(error)) == (None, {}, "not_found: no such run")


@pytest.mark.parametrize("code", list(ErrorCode))
def test_is_retryable_by_default_where_time_may_mend_it(code: ErrorCode) -> None:
    assert ForgeError(code, "no").retryable == (code in {ErrorCode.RESOURCE_EXHAUSTED, ErrorCode.STORAGE_ERROR})
    assert ForgeError(code, "no", retryable=True).retryable


def test_keeps_a_code_and_fields_that_only_a_newer_server_knows() -> None:
    newer = FULL.SerializeToString() + b"\x08\x63" + b"\xf2\x3f\x03new"
    error = ForgeError.from_detail(common.ForgeError.FromString(newer))
    assert (error.code, error.code.value, error.code.name) == (99, 99, "UNKNOWN_99")
    assert str(error) == "unknown_99 (TURN_ACTIVE): session 1 has an active turn"
    assert b"\xf2\x3f\x03new" in error.detail.SerializeToString()


def test_crosses_to_another_process_whole() -> None:
    error = pickle.loads(pickle.dumps(ForgeError.from_detail(FULL)))  # noqa: S301 -- our own bytes.
    assert type(error) is ForgeError
    assert error.detail == FULL
