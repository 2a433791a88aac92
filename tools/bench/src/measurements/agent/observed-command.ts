import { createHash, randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { ArtifactRefSchema, ValueSchema } from "@forge/protocol/common";
import { RiskLevel } from "@forge/protocol/tool";
import { LeasedTaskSchema, TaskSchema } from "@forge/protocol/worker";
import { openToolWorkspace, runProcess, type ToolDefinition, toolHandler } from "@forge/tools";
import type { TaskContext } from "@forge/worker";
import { nowMs } from "./clock.ts";

/** Runs commands in a workspace that is compared before and after each, as tools that execute something do. */
export interface ObservedCommands {
  /** Writes one file, and resolves with how long the call went on after the command had ended. Throws where the change was not found. */
  afterMs(): Promise<number>;
  close(): Promise<void>;
}

const TOOL = "bench.command";

/** `stateDirectory`: where what is known of the workspace is kept, outside of it. */
export function openObservedCommands(workspace: string, stateDirectory: string): ObservedCommands {
  const opened = openToolWorkspace(workspace, { stateDirectory });
  let endedMs = 0;
  let calls = 0;
  const definition: ToolDefinition<{ readonly file: string }> = {
    name: TOOL,
    description: "Runs a command that writes a file.",
    inputSchema: { type: "object", properties: { file: { type: "string" } }, required: ["file"], additionalProperties: false },
    idempotent: false,
    risk: RiskLevel.EXECUTE,
    observes: true,
    timeoutMs: 600_000,
    execute: async ({ file }, { signal }) => {
      const { exitCode } = await runProcess({ command: ["sh", "-c", `echo written > ${file}`], cwd: workspace, signal });
      if (exitCode !== 0) throw new Error(`the command ended with ${exitCode}`);
      endedMs = nowMs();
      return {};
    },
  };
  const handler = toolHandler(definition, { observe: opened.observe });
  return {
    afterMs: async () => {
      const file = `bench-${++calls}.out`;
      const outcome = await handler.run(contextOf(JSON.stringify({ file })));
      const ms = nowMs() - endedMs;
      const files = outcome.case === "tool" ? outcome.value.changes.flatMap((change) => change.files.map(({ path }) => path)) : [];
      if (files.length !== 1 || files[0] !== file) throw new Error(`a command that wrote ${file} was seen to have changed ${JSON.stringify(files)}`);
      return ms;
    },
    close: () => opened.close(),
  };
}

/** A task that nobody leased: its artifacts are hashed and let go. */
function contextOf(argumentsJson: string): TaskContext {
  const task = create(TaskSchema, { kind: { case: "tool", value: { tool: TOOL, argumentsJson, sessionId: randomUUID() } } });
  const none = (): Promise<never> => Promise.reject(new Error("there is no control plane"));
  return {
    lease: create(LeasedTaskSchema, { taskId: randomUUID(), epoch: 1, task }),
    task,
    signal: new AbortController().signal,
    start: async () => undefined,
    report: () => undefined,
    queued: () => undefined,
    begun: () => undefined,
    heartbeat: () => undefined,
    readConversation: none,
    listChanges: none,
    getArtifact: none,
    fromValue: none,
    putArtifact: async (content, mediaType) =>
      create(ArtifactRefSchema, { sha256: createHash("sha256").update(content).digest("hex"), size: BigInt(content.length), mediaType }),
    toValue: async (json) => create(ValueSchema, { kind: { case: "json", value: json } }),
  };
}
