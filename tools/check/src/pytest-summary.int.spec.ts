import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPython } from "@forge/python";
import { execa } from "execa";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SUMMARY_FILE_VARIABLE } from "./test-summary.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "forge-pytest-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

it("counts what passes, fails and is skipped in Python, and everything that goes wrong outside of a test", async (context) => {
  const python = await findPython();
  if (typeof python !== "string") return context.skip(python.missing);
  const files = {
    "test_a.py": `
import pytest

@pytest.fixture
def broken():
    raise ValueError("broken fixture")

def test_passes(): pass
def test_fails(): assert False
def test_waits_for_the_fixture(broken): pass
def test_is_skipped(): pytest.skip("needs a moon")
@pytest.mark.skip
def test_is_skipped_silently(): pass
`,
    "test_b.py": "raise ValueError('can not be loaded')",
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const file = join(directory, "summary.json");
  await execa(python, ["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_summary", "--continue-on-collection-errors"], {
    cwd: directory,
    reject: false,
    env: { [SUMMARY_FILE_VARIABLE]: file, PYTHONPATH: import.meta.dirname },
  });
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({
    passed: 1,
    failed: ["test_b.py (outside of its tests)", "test_a.py::test_fails", "test_a.py::test_waits_for_the_fixture (setup)"],
    skipped: [
      { name: "test_a.py::test_is_skipped", reason: "needs a moon" },
      { name: "test_a.py::test_is_skipped_silently", reason: "" },
    ],
  });
});
