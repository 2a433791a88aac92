import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { RiskLevel } from "@forge/protocol/tool";
import { type ProcessResult, runProcess } from "../process/run-process.ts";
import { cutText, textEnd } from "../text.ts";
import type { WorkspaceGuard } from "../workspace/workspace-guard.ts";
import { type ProgramRules, programRefusal } from "./program-rules.ts";
import { stopUnconfirmed } from "./stop-unconfirmed.ts";
import type { JsonValue, ToolDefinition } from "./tool-definition.ts";

interface ShellArguments {
  command: string;
  timeout_seconds?: number;
  cwd?: string;
}

const TIMEOUT_SECONDS = 120;
const TIMEOUT_SECONDS_MAX = 600;
/** Followed live; a command that prints more than anybody reads must not fill the event store. The result has the end in any case. */
const REPORTED_CHARACTERS_MAX = 256 * 1024;
/** Of each stream, in an error's message, which has room for 4,096 characters. */
const PRINTED_IN_ERROR_MAX = 1_600;

/**
 * Runs a command in the workspace with the rights of the user that Forge runs as: whoever allows it allows everything that this user may do. The command does
 * not see Forge's own environment.
 */
export function shellTool(guard: WorkspaceGuard, environment: Readonly<Record<string, string>>, programs?: ProgramRules): ToolDefinition<ShellArguments> {
  const refusal = programs === undefined ? () => undefined : programRefusal(programs);
  return {
    name: "tools.shell",
    description:
      "Runs a command with sh in the workspace and returns its exit code and what it printed (of each stream the first and last 16 KiB). It has no input and no terminal. " +
      "What it leaves in the background is stopped when it ends.",
    inputSchema: {
      type: "object",
      properties: {
        command: { type: "string", minLength: 1, maxLength: 32_768 },
        timeout_seconds: { type: "number", exclusiveMinimum: 0, maximum: TIMEOUT_SECONDS_MAX, description: `Absent: ${TIMEOUT_SECONDS}.` },
        cwd: { type: "string", minLength: 1, maxLength: 4096, description: "A directory, relative to the workspace." },
      },
      required: ["command"],
      additionalProperties: false,
    },
    idempotent: false,
    risk: RiskLevel.EXECUTE,
    // Longer than the command's own bound, which then comes first and tells what was printed.
    timeoutMs: (TIMEOUT_SECONDS_MAX + 10) * 1000,
    execute: async ({ command, timeout_seconds: timeoutSeconds = TIMEOUT_SECONDS, cwd = "." }, call) => {
      // sh would end the text at a NUL, and so run another command than the one that was allowed.
      if (command.includes("\0")) throw ForgeError.validation("arguments.command", "a command has no NUL character", { origin: "tool" });
      const refused = refusal(command);
      if (refused !== undefined) throw new ForgeError(ErrorCode.SANDBOX_VIOLATION, refused, { reason: "PROGRAM_REFUSED", origin: "tool" });
      let reported = 0;
      const result = await runProcess({
        command,
        cwd: await workingDirectory(guard, cwd),
        environment,
        timeoutMs: timeoutSeconds * 1000,
        signal: call.signal,
        onOutput: (text) => {
          if (reported >= REPORTED_CHARACTERS_MAX) return;
          reported += text.length;
          call.report(reported >= REPORTED_CHARACTERS_MAX ? `${text}\n[more output is not shown live]\n` : text);
        },
      });
      return outcome(result, timeoutSeconds, call.signal);
    },
  };
}

async function workingDirectory(guard: WorkspaceGuard, cwd: string): Promise<string> {
  // Opened, so that what is missing or no directory is told by its name.
  await using directory = await guard.openDirectory(cwd, { create: false });
  return directory.realPath;
}

function outcome(result: ProcessResult, timeoutSeconds: number, signal: AbortSignal): JsonValue {
  if (!result.confirmedStopped) throw stopUnconfirmed("the command");
  if (result.ended === "timed_out") throw deadlineExceeded(`the command did not end within ${timeoutSeconds} s and was stopped`, result);
  if (result.ended === "aborted") {
    const reason: unknown = signal.reason;
    throw reason instanceof ForgeError && reason.code === ErrorCode.DEADLINE_EXCEEDED ? deadlineExceeded(reason.message, result) : reason;
  }
  return {
    exit_code: result.exitCode ?? -1,
    stdout: result.stdout.text,
    stderr: result.stderr.text,
    truncated: result.stdout.omittedBytes + result.stderr.omittedBytes > 0,
    duration_ms: Math.round(result.durationMs),
  };
}

function deadlineExceeded(what: string, { stdout, stderr }: ProcessResult): ForgeError {
  const printed = Object.entries({ stdout: stdout.text, stderr: stderr.text })
    .filter(([, text]) => text !== "")
    .map(([name, text]) => `\n${name} until then${text.length > PRINTED_IN_ERROR_MAX ? " (its end)" : ""}:\n${textEnd(text, PRINTED_IN_ERROR_MAX)}`);
  return new ForgeError(ErrorCode.DEADLINE_EXCEEDED, cutText(`${what}${printed.join("")}`, 4_096), { origin: "tool" });
}
