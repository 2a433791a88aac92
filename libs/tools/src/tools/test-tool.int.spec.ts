import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ApprovalCategory, ToolMode } from "@forge/protocol/tool";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import { callTool, previewOf } from "../testing/tool-calls.ts";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { readTestProfiles } from "./test-profiles.ts";
import { testTool } from "./test-tool.ts";

let workspace: string;
let sandbox: Sandbox;

beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), "forge-checks-")));
  sandbox = createSandbox({ workspace, policy: "required" });
  mkdirSync(join(workspace, ".forge"));
  writeFileSync(
    join(workspace, ".forge/tests.toml"),
    `[profiles.unit]
command = ["./check", "a b", "$HOME", "; touch evil"]
env = { MODE = "test" }

[profiles.some]
command = ["printf", "%s|"]
allow_args = true
description = "Prints."

[profiles.slow]
command = ["sleep", "600"]
timeout_seconds = 0.2

[profiles.away]
command = ["true"]
cwd = "../.."
`,
  );
  check("exit 3");
});

afterEach(async () => {
  await sandbox.close();
  rmSync(workspace, { recursive: true, force: true });
});

function check(end: string): void {
  writeFileSync(join(workspace, "check"), `#!/bin/sh\nprintf '%s|' "$MODE" "$@"; echo x > made; ${end}\n`);
  chmodSync(join(workspace, "check"), 0o755);
}

const tool = async () => testTool(new WorkspaceGuard(workspace), { profiles: await readTestProfiles(workspace), sandbox });

test("runs exactly the argument vector, without a shell, and a check that fails is a result", async () => {
  const result = await callTool(await tool(), { profile: "unit" });
  expect(result).toMatchObject({ profile: "unit", passed: false, exit_code: 3, stdout: "test|a b|$HOME|; touch evil|" });
  check("exit 0");
  expect(await callTool(await tool(), { profile: "unit" })).toMatchObject({ passed: true, exit_code: 0 });
});

test("takes arguments only where the profile says so", async () => {
  expect(await callTool(await tool(), { profile: "some", args: ["a b", "`x`"] })).toMatchObject({
    stdout: "a b|`x`|",
    command: ["printf", "%s|", "a b", "`x`"],
  });
  await expect(previewOf(await tool(), { profile: "unit", args: ["x"] })).rejects.toMatchObject({ detail: { metadata: { field: "arguments.args" } } });
  await expect(previewOf(await tool(), { profile: "none" })).rejects.toMatchObject({ detail: { metadata: { field: "arguments.profile" } } });
});

test("tells its profiles, and is evidence", async () => {
  const { description, category } = await tool();
  expect(description).toContain("unit (./check a b");
  expect(description).toContain("some (Prints.; takes args)");
  expect(category).toBe(ApprovalCategory.EVIDENCE);
});

test("ends after the profile's time, and telling what it had printed", async () => {
  await expect(callTool(await tool(), { profile: "slow" })).rejects.toThrow("did not end within 0.2 s");
});

test("stays in the workspace, and writes nothing in plan mode", async () => {
  await expect(previewOf(await tool(), { profile: "away" })).rejects.toMatchObject({ message: expect.stringContaining("outside") });
  const told: string[] = [];
  const { stderr } = await callTool(await tool(), { profile: "unit" }, { mode: ToolMode.PLAN, readsOnly: () => told.push("reads only") });
  expect(told).toEqual(["reads only"]);
  expect(stderr).toContain("Read-only file system");
});

test("a rule is of the profile as it stands, its arguments and its program; what changed in between is noticed", async () => {
  const profiles = await tool();
  const previewed = await previewOf(profiles, { profile: "unit" });
  expect(previewed).toMatchObject({ ruleTitle: "the check unit: ./check a b $HOME ; touch evil", title: "run the check unit: ./check a b $HOME ; touch evil" });
  expect((await previewOf(profiles, { profile: "some", args: ["a"] })).ruleKey).not.toBe((await previewOf(profiles, { profile: "some", args: ["b"] })).ruleKey);
  await callTool(profiles, { profile: "unit" }, { previewed });
  check("echo evil");
  await expect(callTool(profiles, { profile: "unit" }, { previewed })).rejects.toMatchObject({ reason: "PREVIEW_STALE" });
  expect((await previewOf(profiles, { profile: "unit" })).ruleKey).not.toBe(previewed.ruleKey);
});

test("there are none where there is no file", async () => {
  rmSync(join(workspace, ".forge"), { recursive: true });
  expect(await readTestProfiles(workspace)).toEqual([]);
});
