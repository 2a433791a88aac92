import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type ProcessResult, runProcess } from "../process/run-process.ts";
import type { JsonValue } from "../tools/tool-definition.ts";
import type { HookEvent, ProjectHook } from "./hooks-config.ts";

/** Where and how hooks run. */
export interface HookRunnerOptions {
  readonly workspace: string;
  /** Puts a program into a sandbox; absent: it runs as it is, in a process tree of its own. */
  readonly wrap?: (argv: readonly string[]) => Promise<readonly string[]> | readonly string[];
}

/** What a hook said. */
export interface HookAnswer {
  /** Passed (exit code 0), or said no (exit code 2). */
  readonly isDenied: boolean;
  /** Of a no: why, at most 1,024 characters. */
  readonly reason: string;
  /** What it printed. */
  readonly stdout: string;
  readonly durationMs: number;
}

const EXIT_DENIED = 2;
const OUTPUT_BYTES_MAX = 256 * 1024;
const REASON_MAX = 1024;

/**
 * Calls a hook: what it is told comes as JSON on its standard input. Rejects with HOOK_FAILED where it said neither yes nor no: it could not be started, ended
 * otherwise, or was killed at its time limit; and with the signal's reason.
 */
export async function callHook(
  hook: ProjectHook,
  event: HookEvent,
  told: { readonly [key: string]: JsonValue },
  { workspace, wrap }: HookRunnerOptions,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const argv = (await wrap?.(hook.command)) ?? hook.command;
  let result: ProcessResult;
  try {
    result = await runProcess({
      command: argv,
      cwd: workspace,
      environment: { FORGE_HOOK: hook.name, FORGE_HOOK_EVENT: event },
      stdin: JSON.stringify({ event, hook: hook.name, workspace, ...told }),
      timeoutMs: hook.timeoutMs,
      signal,
      graceMs: 500,
      outputBytesMax: OUTPUT_BYTES_MAX,
    });
  } catch (error) {
    throw failed(hook, `it could not be started: ${(error as Error).message}`);
  }
  if (result.ended === "aborted") throw signal.reason;
  if (result.ended === "timed_out") throw failed(hook, `it did not end within ${hook.timeoutMs / 1000} s and was killed`);
  const [stdout, stderr] = [result.stdout, result.stderr].map(({ text }) => text.trim()) as [string, string];
  if (result.stdout.omittedBytes > 0) throw failed(hook, `it printed more than ${OUTPUT_BYTES_MAX} bytes`);
  const isDenied = result.exitCode === EXIT_DENIED;
  if (result.exitCode !== 0 && !isDenied) {
    const how = result.signal === null ? `ended with exit code ${result.exitCode}` : `was ended by ${result.signal}`;
    throw failed(hook, `it ${how}${stderr === "" ? "" : `: ${stderr}`}`);
  }
  return { isDenied, reason: (stderr || stdout).slice(0, REASON_MAX), stdout, durationMs: result.durationMs };
}

/** What hooks are asked, and could not be. */
function failed(hook: ProjectHook, why: string): ForgeError {
  return new ForgeError(ErrorCode.INTERNAL, `the hook ${hook.name} failed: ${why}`.slice(0, 4096), { reason: "HOOK_FAILED", origin: "worker" });
}
