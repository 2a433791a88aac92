"""pytest's way to the test command: writes the summary of the run to the file that the environment names, as summary-reporter.ts does for vitest."""

import json
import os
from pathlib import Path

import pytest

passed = 0
failed: list[str] = []
skipped: list[dict[str, str]] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    global passed
    if report.failed:
        failed.append(report.nodeid if report.when == "call" else f"{report.nodeid} ({report.when})")
    elif report.skipped:
        skipped.append(_skip(report.nodeid, report.longrepr))
    elif report.when == "call":
        passed += 1


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        failed.append(f"{report.nodeid} (outside of its tests)")
    elif report.skipped:
        skipped.append(_skip(report.nodeid, report.longrepr))


def pytest_sessionfinish(exitstatus: int) -> None:
    if exitstatus in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR):
        failed.append("the run was broken off")
    Path(os.environ["FORGE_TEST_SUMMARY_FILE"]).write_text(json.dumps({"passed": passed, "failed": failed, "skipped": skipped}))


def _skip(name: str, why: object) -> dict[str, str]:
    reason = why[2] if isinstance(why, tuple) else ""
    return {"name": name, "reason": reason.removeprefix("Skipped: ").removeprefix("Skipped").removeprefix("unconditional skip")}
