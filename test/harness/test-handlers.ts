import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { ToolStartedSchema } from "@forge/protocol/event";
import { RiskLevel, ToolSpecSchema } from "@forge/protocol/tool";
import { CapabilityKind, CapabilitySchema, FunctionResultSchema, ToolResultSchema } from "@forge/protocol/worker";
import type { TaskContext, TaskHandler } from "@forge/worker";

/** The places in a call at which a test can hold it or kill its process. */
export type Point = "before-start" | "before-effect" | "after-effect";

/** What a test asks of a call, in its arguments. */
export interface CallArguments {
  /** Milliseconds to wait at a point. */
  readonly delays?: Partial<Readonly<Record<Point, number>>>;
  /** Wait there until the test says `go`, or the call is stopped. */
  readonly hold?: Point;
  /** Pieces of output to report before the effect. */
  readonly pieces?: number;
}

/** What a held call tells the test process. */
export interface PointReached {
  readonly type: "point";
  readonly point: Point;
  readonly callId: string;
}

/** What lets a held call go on. */
export interface GoOn {
  readonly type: "go";
  readonly callId: string;
}

/** Writes a line that survives this process and the next. */
async function append(file: string, line: string): Promise<void> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND);
    await handle.write(`${line}\n`);
    await handle.sync();
  } finally {
    await handle?.close();
  }
}

function heldUntilGo(callId: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      const said = message as Partial<GoOn>;
      if (said.type !== "go" || said.callId !== callId) return;
      process.off("message", onMessage);
      resolve();
    };
    process.on("message", onMessage);
    signal.addEventListener("abort", () => {
      process.off("message", onMessage);
      reject(signal.reason as Error);
    });
  });
}

async function at(point: Point, callId: string, args: CallArguments, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (args.hold === point) {
    process.send?.({ type: "point", point, callId } satisfies PointReached);
    await heldUntilGo(callId, signal);
  }
  const ms = args.delays?.[point] ?? 0;
  if (ms > 0) await delay(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

async function perform(context: TaskContext, callId: string, args: CallArguments, effectsFile: string): Promise<string> {
  const { signal } = context;
  await at("before-start", callId, args, signal);
  if (context.task.needsStart) await context.start({ case: "tool", value: create(ToolStartedSchema) });
  for (let piece = 0; piece < (args.pieces ?? 0); piece++) {
    // Apart by more than output is gathered for, so that each is an event.
    await delay(60, undefined, { signal }).catch(() => signal.throwIfAborted());
    context.report({
      case: "tool",
      value: { $typeName: "forge.event.v1.ToolOutputDelta", offset: BigInt(piece * 6), text: `piece\n`, epoch: context.lease.epoch },
    });
  }
  await at("before-effect", callId, args, signal);
  await append(effectsFile, callId);
  await at("after-effect", callId, args, signal);
  return JSON.stringify({ callId });
}

function tool(name: string, idempotent: boolean, effectsFile: string): TaskHandler {
  return {
    capability: create(CapabilitySchema, {
      kind: CapabilityKind.TOOL,
      name,
      tool: create(ToolSpecSchema, { name, description: "Writes its call id down.", inputSchemaJson: '{"type":"object"}', idempotent, risk: RiskLevel.CHANGE }),
    }),
    async run(context) {
      const { kind } = context.task;
      if (kind.case !== "tool") throw new ForgeError(ErrorCode.INTERNAL, `a tool was given a task of kind ${kind.case ?? "unknown"}`);
      const output = await perform(context, kind.value.toolCallId, JSON.parse(kind.value.argumentsJson) as CallArguments, effectsFile);
      return { case: "tool", value: create(ToolResultSchema, { output: await context.toValue(output) }) };
    },
  };
}

function noteFunction(name: string, effectsFile: string): TaskHandler {
  return {
    capability: create(CapabilitySchema, { kind: CapabilityKind.FUNCTION, name }),
    async run(context) {
      const { kind } = context.task;
      if (kind.case !== "function") throw new ForgeError(ErrorCode.INTERNAL, `a function was given a task of kind ${kind.case ?? "unknown"}`);
      const input = kind.value.input["call"];
      const args = input === undefined ? {} : (JSON.parse(await context.fromValue(input)) as CallArguments);
      const output = await perform(context, context.task.idempotencyKey, args, effectsFile);
      return { case: "function", value: create(FunctionResultSchema, { output: await context.toValue(output) }) };
    },
  };
}

/** A tool whose effect must not happen twice, one whose effect may, and a function. Each writes down the id of its call. */
export function createTestHandlers(effectsFile: string): TaskHandler[] {
  return [tool("test.append", false, effectsFile), tool("test.again", true, effectsFile), noteFunction("test.note", effectsFile)];
}
