import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createFakeContext, type FakeContext } from "@forge/agent/testing";
import { type OutputDelta, TaskSchema, type TaskStart } from "@forge/protocol/worker";
import type { Logger } from "../context.ts";

export interface TestContext extends FakeContext {
  readonly started: TaskStart["kind"][];
  readonly reported: OutputDelta["kind"][];
}

/** The context of any task, which remembers its starts and its output. */
export function taskContext(init: MessageInitShape<typeof TaskSchema>): TestContext {
  const fake = createFakeContext();
  const task = create(TaskSchema, { idempotencyKey: "key-1", ...init });
  const started: TaskStart["kind"][] = [];
  const reported: OutputDelta["kind"][] = [];
  return {
    ...fake,
    task,
    lease: { ...fake.lease, task },
    started,
    reported,
    start: async (kind) => void started.push(kind),
    report: (kind) => void reported.push(kind),
  };
}

/** Keeps the lines. */
export function recordingLogger(): Logger & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (message: string, fields?: object): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  return { lines, debug: write, info: write, warn: write, error: write };
}
