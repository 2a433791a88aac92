import { ForgeError } from "@forge/protocol";
import type { Task } from "@forge/protocol/worker";
import type { TaskContext } from "./handler.ts";

/**
 * The arguments of a tool task: its argument text, and a run step's inputs by name on top of it. Errors: validation, where the text is no JSON object,
 * for example because it was cut short.
 */
export async function readArguments(task: Task, context: Pick<TaskContext, "fromValue">): Promise<Record<string, unknown>> {
  if (task.kind.case !== "tool") throw ForgeError.validation("task", `a tool was given a task of kind ${task.kind.case ?? "unknown"}`, { origin: "tool" });
  const { argumentsJson, input } = task.kind.value;
  // Models send an empty text for a tool without arguments.
  const written = argumentsJson.trim() === "" ? {} : parseObject(argumentsJson);
  const named = await Promise.all(
    Object.entries(input).map(async ([name, value]) => [name, parse(`arguments.${name}`, await context.fromValue(value))] as const),
  );
  return Object.fromEntries([...Object.entries(written), ...named]);
}

function parseObject(json: string): object {
  const value = parse("arguments", json);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw refused("arguments", "must be a JSON object");
  return value;
}

function parse(field: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw refused(field, `are not JSON: ${(error as Error).message}`);
  }
}

function refused(field: string, what: string): ForgeError {
  return ForgeError.validation(field, `${field} ${what}; the tool was not called`, { reason: "TOOL_ARGUMENTS", origin: "tool" });
}
