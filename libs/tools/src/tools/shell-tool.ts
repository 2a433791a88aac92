import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { RiskLevel, type ToolPreview, ToolPreviewSchema } from "@forge/protocol/tool";
import { type BackgroundProcesses, backgroundOwner } from "../process/background-processes.ts";
import { runProcess } from "../process/run-process.ts";
import { requireHostPatterns } from "../sandbox/host-rules.ts";
import { accessOf, type Sandbox } from "../sandbox/sandbox.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { resolveAll, type SecretSource } from "../secrets/secret-source.ts";
import { cutText } from "../text.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { commandOutcome, limitedReport } from "./command-outcome.ts";
import { type PlannedCommand, planCommand } from "./command-preview.ts";
import { requireFacts } from "./preview-stale.ts";
import { type ProgramRules, programRefusal } from "./program-rules.ts";
import type { ToolDefinition } from "./tool-definition.ts";

interface ShellArguments {
  command: string;
  timeout_seconds?: number;
  cwd?: string;
  background?: boolean;
  keep_running?: boolean;
  network?: string[];
}

const TIMEOUT_SECONDS = 120;
const TIMEOUT_SECONDS_MAX = 600;
/** Of a preview. */
const RULE_KEY_LENGTH_MAX = 512;
const TEXT_LENGTH_MAX = 256;

/** What commands are run with. */
export interface ShellOptions {
  /** Added to what a command sees; `secret://name` in a value is resolved for each command. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Programs that commands may name; absent: all. */
  readonly programs?: ProgramRules;
  /** Absent: commands see what this process sees. */
  readonly sandbox?: Sandbox;
  readonly secrets?: SecretSource;
  readonly background: BackgroundProcesses;
}

/**
 * Runs a command in the workspace, in the sandbox where there is one. Without one it has the rights of the user that Forge runs as: whoever allows it allows
 * everything that this user may do. The command does not see Forge's own environment.
 */
export function shellTool(guard: WorkspaceGuard, options: ShellOptions): ToolDefinition<ShellArguments> {
  const { environment = {}, programs, sandbox, secrets, background } = options;
  const refusal = programs === undefined ? () => undefined : programRefusal(programs);
  const plan = ({ command, cwd = ".", network = [] }: ShellArguments, signal: AbortSignal): Promise<PlannedCommand> => {
    requireHostPatterns("arguments.network", network);
    // sh would end the text at a NUL, and so run another command than the one that was allowed.
    if (command.includes("\0")) throw ForgeError.validation("arguments.command", "a command has no NUL character", { origin: "tool" });
    const refused = refusal(command);
    if (refused !== undefined) throw new ForgeError(ErrorCode.SANDBOX_VIOLATION, refused, { reason: "PROGRAM_REFUSED", origin: "tool" });
    return planCommand(guard, { command, cwd, environment, signal });
  };
  return {
    name: "tools.shell",
    description:
      "Runs a command with sh in the workspace and returns its exit code and what it printed (of each stream the first and last 16 KiB). It has no input and no terminal. " +
      "It reaches no host but those that are configured or that network names. What it leaves in the background is stopped when it ends; start a server or a watcher with background instead, and look at it with tools.processes.",
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string", minLength: 1, maxLength: 32_768 },
        timeout_seconds: {
          type: "number",
          exclusiveMinimum: 0,
          maximum: TIMEOUT_SECONDS_MAX,
          description: `Absent: ${TIMEOUT_SECONDS}. Not of what runs in the background.`,
        },
        cwd: { type: "string", minLength: 1, maxLength: 4096, description: "A directory, relative to the workspace." },
        background: {
          type: "boolean",
          description: "Returns at once with an id; the command runs on until it ends, is stopped, or the turn is over.",
        },
        keep_running: { type: "boolean", description: "With background: until the session is over." },
        network: {
          type: "array",
          items: { type: "string", minLength: 1, maxLength: 256 },
          maxItems: 16,
          description:
            'Hosts that the command needs, for example "registry.npmjs.org"; it reaches no others but those that are configured. A person is asked for them.',
        },
      },
      required: ["command"],
      additionalProperties: false,
    },
    idempotent: false,
    risk: RiskLevel.EXECUTE,
    observes: true,
    // Longer than the command's own bound, which then comes first and tells what was printed.
    timeoutMs: (TIMEOUT_SECONDS_MAX + 10) * 1000,
    preview: async (args, { signal }) => {
      return beyond(args, (await plan(args, signal)).preview);
    },
    execute: async (args, call) => {
      const planned = await plan(args, call.signal);
      requireFacts(
        call.previewed,
        planned.preview.factsJson,
        "The command would not be the same any more: its program, a script that it runs or its directory changed",
      );
      const scrubber = createScrubber(secrets?.values() ?? []);
      const { command, cwd } = planned;
      const { network: hosts } = args;
      const access = planned.reads && hosts === undefined ? "read" : accessOf(call.mode);
      const enclosure = await sandbox?.enclosure({ access, hosts });
      if (enclosure !== undefined && access === "read") call.readsOnly();
      const seen = { ...resolveAll(environment, secrets), ...planned.environment };
      const owner = backgroundOwner(call.owner);
      await background.turnBegan(owner);
      if (isBackground(args)) {
        const started = await background.start(
          { command, cwd, environment: seen, enclosure, scrubber },
          owner,
          args.keep_running === true,
          () => sandbox?.commandEnded() ?? Promise.resolve(),
        );
        return { id: started.id, status: started.status };
      }
      const { timeout_seconds: timeoutSeconds = TIMEOUT_SECONDS } = args;
      const onOutput = limitedReport((text) => call.report(text));
      const result = await runProcess({
        command,
        cwd,
        environment: seen,
        timeoutMs: timeoutSeconds * 1000,
        signal: call.signal,
        enclosure,
        scrubber,
        onOutput,
      });
      await sandbox?.commandEnded();
      return commandOutcome(result, timeoutSeconds, call.signal);
    },
  };
}

function isBackground({ background, keep_running: keepRunning }: ShellArguments): boolean {
  return background === true || keepRunning === true;
}

/** What goes on after the call, or reaches out, is another thing to allow than the same without, and never one that only reads. */
function beyond({ background, keep_running: keepRunning, network = [] }: ShellArguments, preview: ToolPreview): ToolPreview {
  const hosts = [...new Set(network)].sort();
  const words = [
    ...(keepRunning === true ? ["in the background, until the session is over"] : background === true ? ["in the background"] : []),
    ...(hosts.length === 0 ? [] : [`with the network of ${hosts.join(", ")}`]),
  ].join(" ");
  if (words === "") return preview;
  const key = `${preview.ruleKey}:${JSON.stringify([background ?? false, keepRunning ?? false, hosts])}`;
  const hasRule = preview.ruleKey !== "" && key.length <= RULE_KEY_LENGTH_MAX;
  return create(ToolPreviewSchema, {
    title: cutText(`${words}: ${preview.title}`, TEXT_LENGTH_MAX),
    factsJson: preview.factsJson,
    ruleKey: hasRule ? key : "",
    ruleTitle: hasRule ? cutText(`${words}: ${preview.ruleTitle}`, TEXT_LENGTH_MAX) : "",
  });
}
