import { ForgeError } from "@forge/protocol";
import { RiskLevel } from "@forge/protocol/tool";
import { type BackgroundProcess, type BackgroundProcesses, backgroundOwner } from "../process/background-processes.ts";
import { cutText } from "../text.ts";
import { stopUnconfirmed } from "./stop-unconfirmed.ts";
import type { JsonValue, ToolDefinition } from "./tool-definition.ts";

interface ProcessesArguments {
  operation: "list" | "output" | "stop";
  id?: string;
}

/** Of a command, in a list. */
const COMMAND_LENGTH_MAX = 200;

/** The commands that the session's tools.shell has started in the background. It changes nothing but them, and so is one that reads. */
export function processesTool(processes: BackgroundProcesses): ToolDefinition<ProcessesArguments> {
  return {
    name: "tools.processes",
    description: "Lists the commands that tools.shell has started in the background of this session, tells what one has printed, or stops one and tells that.",
    inputSchema: {
      type: "object",
      properties: { operation: { enum: ["list", "output", "stop"] }, id: { type: "string", minLength: 1, maxLength: 32, description: "Of output and stop." } },
      required: ["operation"],
      additionalProperties: false,
    },
    idempotent: true,
    risk: RiskLevel.READ,
    timeoutMs: 30_000,
    execute: async ({ operation, id }, call): Promise<JsonValue> => {
      const owner = backgroundOwner(call.owner);
      await processes.turnBegan(owner);
      if (operation === "list") return { processes: processes.list(owner.sessionId).map((one) => summary(one)) };
      if (id === undefined) throw ForgeError.validation("arguments.id", `${operation} needs the id of a process`, { origin: "tool" });
      if (operation === "output") return { ...summary(processes.get(owner.sessionId, id)), output: processes.get(owner.sessionId, id).output };
      const { process, confirmed } = await processes.stop(owner.sessionId, id);
      if (!confirmed) throw stopUnconfirmed(`the command ${id}`);
      return { ...summary(process), output: process.output };
    },
  };
}

function summary({ id, command, status, exitCode, startedAt, ofSession }: BackgroundProcess): { [key: string]: JsonValue } {
  return {
    id,
    command: cutText(command, COMMAND_LENGTH_MAX),
    status,
    exit_code: exitCode,
    started_at: startedAt.toISOString(),
    belongs_to: ofSession ? "session" : "turn",
  };
}
