import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ApprovalCategory, RiskLevel, type ToolPreview, ToolPreviewSchema } from "@forge/protocol/tool";
import { childEnvironment } from "../process/environment.ts";
import { contentStamp, programStamp } from "../process/file-stamp.ts";
import { runProcess } from "../process/run-process.ts";
import { findProgram, isProgram, pathDirectories } from "../process/system-program.ts";
import { accessOf, type Sandbox } from "../sandbox/sandbox.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { resolveAll, type SecretSource } from "../secrets/secret-source.ts";
import { cutText } from "../text.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { commandOutcome, limitedReport } from "./command-outcome.ts";
import { requireFacts } from "./preview-stale.ts";
import { workspaceScripts } from "./shell-scripts.ts";
import type { TestProfile } from "./test-profiles.ts";
import type { ToolDefinition } from "./tool-definition.ts";

interface TestArguments {
  profile: string;
  args?: string[];
}

/** What profiles are run with. */
export interface TestOptions {
  readonly profiles: readonly TestProfile[];
  /** As of tools.shell; a profile's own come on top. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly sandbox?: Sandbox;
  readonly secrets?: SecretSource;
}

/** Runs one of the checks that the workspace's owner wrote down: exactly its argument vector. A check that fails is a result. */
export function testTool(guard: WorkspaceGuard, { profiles, environment = {}, sandbox, secrets }: TestOptions): ToolDefinition<TestArguments> {
  const listed = profiles.map(({ name, command, description, allowArguments }) => {
    const about = description === "" ? command.join(" ") : description;
    return `${name} (${about}${allowArguments ? "; takes args" : ""})`;
  });
  const timeoutSecondsMax = Math.max(...profiles.map(({ timeoutSeconds }) => timeoutSeconds));
  const plan = async ({ profile: name, args = [] }: TestArguments): Promise<PlannedTest> => {
    const profile = profiles.find((one) => one.name === name);
    if (profile === undefined)
      throw ForgeError.validation("arguments.profile", `there is no profile ${name}; there are ${profiles.map((one) => one.name).join(", ")}`, {
        origin: "tool",
      });
    if (args.length > 0 && !profile.allowArguments) throw ForgeError.validation("arguments.args", `the profile ${name} takes no args`, { origin: "tool" });
    if (args.some((word) => word.includes("\0"))) throw ForgeError.validation("arguments.args", "an argument has no NUL character", { origin: "tool" });
    await using directory = await guard.openDirectory(profile.cwd, { create: false });
    const command = [...profile.command, ...args];
    return {
      profile,
      command,
      cwd: directory.realPath,
      preview: await preview(guard, profile, command, directory.realPath, { ...environment, ...profile.environment }),
    };
  };
  return {
    name: "tools.test",
    description: cutText(`Runs one of the workspace's own checks and returns its exit code and what it printed. Profiles: ${listed.join("; ")}.`, 4_096),
    inputSchema: {
      type: "object",
      properties: {
        profile: { enum: profiles.map(({ name }) => name) },
        args: {
          type: "array",
          items: { type: "string", maxLength: 1024 },
          maxItems: 32,
          description: "Only of profiles that take them; for example the file to test.",
        },
      },
      required: ["profile"],
      additionalProperties: false,
    },
    idempotent: false,
    risk: RiskLevel.EXECUTE,
    category: ApprovalCategory.EVIDENCE,
    observes: true,
    // Longer than a profile's own bound, which then comes first and tells what was printed.
    timeoutMs: (timeoutSecondsMax + 10) * 1000,
    preview: async (args) => (await plan(args)).preview,
    execute: async (args, call) => {
      const { profile, command, cwd, preview: planned } = await plan(args);
      requireFacts(call.previewed, planned.factsJson, "The check would not be the same any more: its program or what it starts changed");
      const access = accessOf(call.mode);
      const enclosure = await sandbox?.enclosure({ access });
      if (enclosure !== undefined && access === "read") call.readsOnly();
      const result = await runProcess({
        command,
        cwd,
        environment: resolveAll({ ...environment, ...profile.environment }, secrets),
        timeoutMs: profile.timeoutSeconds * 1000,
        signal: call.signal,
        enclosure,
        scrubber: createScrubber(secrets?.values() ?? []),
        onOutput: limitedReport((text) => call.report(text)),
      });
      await sandbox?.commandEnded();
      return { profile: profile.name, command: [...command], passed: result.exitCode === 0, ...commandOutcome(result, profile.timeoutSeconds, call.signal) };
    },
  };
}

interface PlannedTest {
  readonly profile: TestProfile;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly preview: ToolPreview;
}

async function preview(
  guard: WorkspaceGuard,
  profile: TestProfile,
  command: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>>,
): Promise<ToolPreview> {
  const [name = ""] = command;
  const path = name.includes("/") ? resolve(cwd, name) : findProgram(name, pathDirectories(childEnvironment(environment).PATH));
  const isThere = path !== undefined && isProgram(path);
  const program = isThere ? ((await contentStamp(path)) ?? (await programStamp(path))) : undefined;
  const scripts = await workspaceScripts(command, cwd, guard.root);
  const facts = digest({ profile, command, cwd: guard.relative(cwd), program, scripts: scripts === "unclear" ? [] : scripts });
  const shown = cutText(command.join(" ").replaceAll(/[\p{Cc}\p{Cf}]/gu, "\ufffd"), 180);
  return create(ToolPreviewSchema, {
    title: `run the check ${profile.name}: ${shown}`,
    factsJson: JSON.stringify({ profile: profile.name, facts }),
    ruleKey: `test:${facts}`,
    ruleTitle: `the check ${profile.name}: ${shown}`,
  });
}

function digest(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex");
}
