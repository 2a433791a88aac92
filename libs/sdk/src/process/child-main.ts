// The process that somebody's file runs in. It holds no credential and no lease: what its calls need they ask of the process that started it.
import { Worker } from "node:worker_threads";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ForgeErrorSchema } from "@forge/protocol/common";
import { CapabilitySchema, LeasedTaskSchema, SettlementSchema } from "@forge/protocol/worker";
import { failure, type Outcome, type TaskHandler } from "@forge/worker";
import type { Logger } from "../context.ts";
import { createHandlers } from "../handlers.ts";
import { logLine } from "../logger.ts";
import { checkServed } from "../served.ts";
import { endGroup } from "./end-group.ts";
import { loadDefinitions } from "./load-definitions.ts";
import type { FromChild, LogLevel, ToChild } from "./messages.ts";
import { RemoteContext } from "./remote-context.ts";
import { Requests } from "./requests.ts";

const [file = ""] = process.argv.slice(2);
const calls = new Map<number, RemoteContext>();
const requests = new Requests(send);

// A loop that never ends keeps this thread from seeing that its parent has gone; another thread sees it.
new Worker(new URL("./parent-watch.ts", import.meta.url), { workerData: process.ppid }).unref();
process.on("disconnect", endGroup);

const log =
  (level: LogLevel): Logger["info"] =>
  (message, fields) =>
    send({ kind: "log", level, message: logLine(message, fields) });
const logger: Logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };

const handlers = await load();
process.on("message", (message: ToChild) => {
  switch (message.kind) {
    case "call":
      void perform(message.call, handlers[message.handler], message.lease);
      return;
    case "abort":
      calls.get(message.call)?.abort(ForgeError.from(fromBinary(ForgeErrorSchema, message.error)));
      return;
    case "answer":
      requests.answer(message.request, message.value);
      return;
    case "refusal":
      requests.refuse(message.request, ForgeError.from(fromBinary(ForgeErrorSchema, message.error)));
  }
});
send({ kind: "loaded", capabilities: handlers.map(({ capability }) => toBinary(CapabilitySchema, capability)) });

async function load(): Promise<TaskHandler[]> {
  try {
    const definitions = await loadDefinitions(file, (sources) => send({ kind: "sources", sources }));
    const created = createHandlers(definitions, { logger });
    checkServed(created);
    return created;
  } catch (error) {
    const known = error instanceof ForgeError ? error : new ForgeError(ErrorCode.INTERNAL, String(error), { origin: "worker" });
    await new Promise((resolve) => process.send?.({ kind: "failed", error: toBinary(ForgeErrorSchema, known.detail) } satisfies FromChild, resolve));
    process.exit(1);
  }
}

async function perform(call: number, handler: TaskHandler | undefined, lease: Uint8Array): Promise<void> {
  const context = new RemoteContext(fromBinary(LeasedTaskSchema, lease), (method, argument) => requests.make(call, method, argument), {
    report: (delta) => send({ kind: "report", call, delta }),
  });
  calls.set(call, context);
  let outcome: Outcome;
  try {
    if (handler === undefined) throw new ForgeError(ErrorCode.INTERNAL, "the process has no such handler", { origin: "worker" });
    outcome = await handler.run(context);
  } catch (error) {
    outcome = failure(error, 0);
  }
  calls.delete(call);
  send({ kind: "outcome", call, settlement: toBinary(SettlementSchema, create(SettlementSchema, { outcome })) });
}

function send(message: FromChild): void {
  // The parent that can't be reached has gone, which ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}
