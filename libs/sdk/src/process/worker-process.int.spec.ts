import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { HookAt, ReadConversationResponseSchema, Role } from "@forge/protocol/session";
import { type Capability, CapabilityKind } from "@forge/protocol/worker";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { taskContext } from "../testing/task-context.ts";
import { type ProcessListener, WorkerProcess } from "./worker-process.ts";

describe("the process of a file", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), "forge-sdk-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  async function start(files: Readonly<Record<string, string>>, listener: Partial<ProcessListener> = {}): Promise<WorkerProcess> {
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, name), text);
    const file = path.join(directory, Object.keys(files)[0] as string);
    return WorkerProcess.start(file, process.env, {
      onOutput: () => undefined,
      onLog: () => undefined,
      onSource: () => undefined,
      onSpent: () => undefined,
      ...listener,
    });
  }

  it("offers what the file exports, one by one and in lists, and knows what it has read", async () => {
    const lines: string[] = [];
    const started = await start(
      {
        "all.ts":
          'import { f } from "./other.ts";\nimport { defineFunction } from "@forge/sdk";\nconsole.log("loading");\nexport const list = [f, f];\nexport const g = defineFunction({ name: "g", run: () => ({}) });\nexport const nothing = 1;\n',
        "other.ts": 'import { defineFunction } from "@forge/sdk";\nexport const f = defineFunction({ name: "f", run: () => ({}) });\n',
      },
      { onOutput: (stream, line) => lines.push(`${stream} ${line}`) },
    );
    try {
      expect(started.capabilities.map(({ name }) => name).toSorted()).toEqual(["f", "g"]);
      expect(started.sources.map((source) => path.basename(source)).toSorted()).toEqual(["all.ts", "other.ts"]);
      // What it prints comes by another way than what it says.
      await vi.waitFor(() => expect(lines).toEqual(["stdout loading"]), 10_000);
      expect(started.isOutdated()).toBe(false);
      await writeFile(path.join(directory, "other.ts"), "// changed\n");
      expect(started.isOutdated()).toBe(true);
    } finally {
      await started.stop();
    }
    expect(started.hasEnded).toBe(true);
  });

  it("calls a hook with the conversation that only its parent can read", async () => {
    const started = await start({
      "hook.ts":
        'import { defineHook } from "@forge/sdk";\nexport const hook = defineHook({ name: "my.echo", at: ["on_user_message"], run: ({ text }) => ({ replaceText: text.toUpperCase() }) });\n',
    });
    try {
      const [capability] = started.capabilities;
      expect(capability).toMatchObject({ kind: CapabilityKind.HOOK, name: "my.echo" });
      const value = { hook: "my.echo", at: HookAt.USER_MESSAGE, sessionId: "session-1", conversationThroughSeq: 3n };
      const context = taskContext({ kind: { case: "hook", value } });
      const part = { kind: { case: "text" as const, value: { text: "hello" } } };
      const readConversation = async () => create(ReadConversationResponseSchema, { messages: [{ role: Role.USER, parts: [part] }] });
      expect(await started.call(capability as Capability, { ...context, readConversation })).toMatchObject({
        case: "hook",
        value: { edits: [{ kind: { case: "replaceText", value: "HELLO" } }] },
      });
    } finally {
      await started.stop();
    }
  });

  it("offers the default export alone where there is one", async () => {
    const text =
      'import { defineFunction } from "@forge/sdk";\nexport const f = defineFunction({ name: "f", run: () => ({}) });\nexport default [defineFunction({ name: "g", run: () => ({}) })];\n';
    const started = await start({ "default.ts": text });
    expect(started.capabilities.map(({ name }) => name)).toEqual(["g"]);
    await started.stop();
  });

  const define = 'import { defineFunction } from "@forge/sdk";\n';
  it.each([
    ["syntax.ts", "const fine = 1;\nconst x: number = (;\n", "syntax.ts:2:20: SyntaxError: Expression expected"],
    ["enum.ts", "export enum A { B }\n", "enum.ts:1:8: SyntaxError: TypeScript enum is not supported"],
    ["syntax.mjs", "export const a = 1;\n\nlet x = ;\n", "syntax.mjs:3:9: SyntaxError: Unexpected token ';'"],
    ["missing.ts", 'import "./nowhere.ts";\n', "missing.ts: Error: Cannot find module"],
    ["throws.ts", 'export {};\nthrow new TypeError("too early");\n', "throws.ts:2:7: TypeError: too early"],
    ["name.ts", `${define}export const f = defineFunction({ name: "a b", run: () => ({}) });\n`, 'name.ts:2:18: function "a b": a name has 1 to 256'],
    ["nothing.ts", "export const nothing = 1;\n", "nothing.ts: it exports nothing to serve"],
    ["exit.ts", "process.exit(7);\n", "exit.ts: its process ended with exit code 7"],
    ["twice.ts", `${define}const f = () => defineFunction({ name: "f", run: () => ({}) });\nexport default [f(), f()];\n`, "function f is defined twice"],
  ])("says what keeps %s from being loaded, and where", async (name, text, message) => {
    const error: unknown = await start({ [name]: text }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ForgeError);
    expect((error as ForgeError).message).toContain(message);
  });
});
