import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ValueSchema } from "@forge/protocol/common";
import { type Task, TaskSchema } from "@forge/protocol/worker";
import type { Outcome } from "@forge/worker";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeTaskContextOptions, fakeTaskContext } from "../testing/fake-task-context.ts";
import { eventually, processesWith } from "../testing/processes.ts";
import type { FunctionLogLine } from "./function-handler.ts";
import { createFunctionHandlers, type FunctionHandlers, type FunctionHandlersOptions } from "./function-handlers.ts";

let project: string;
let served: FunctionHandlers | undefined;
let logged: FunctionLogLine[];

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "forge-functions-")));
  mkdirSync(join(project, "functions"));
  logged = [];
});

afterEach(async () => {
  await served?.close();
  served = undefined;
  rmSync(project, { recursive: true, force: true });
});

function write(name: string, text: string): void {
  writeFileSync(join(project, "functions", name), text);
}

async function serve(options: Partial<FunctionHandlersOptions> = {}): Promise<FunctionHandlers> {
  served = await createFunctionHandlers({ functionsDirectory: join(project, "functions"), poolSize: 2, log: (line) => logged.push(line), ...options });
  return served;
}

function taskOf(name: string, input: object, needsStart = false): Task {
  const values = Object.fromEntries(
    Object.entries(input).map(([key, value]) => [key, create(ValueSchema, { kind: { case: "json", value: JSON.stringify(value) } })]),
  );
  return create(TaskSchema, {
    kind: { case: "function", value: { name, runId: "run-1", stepId: "step-1", attempt: 2, input: values } },
    idempotencyKey: "key-1",
    needsStart,
  });
}

function run(name: string, input: object = {}, options: FakeTaskContextOptions & { needsStart?: boolean } = {}): Promise<Outcome> {
  const handler = served?.handlers.find(({ capability }) => capability.name === name);
  if (handler === undefined) throw new Error(`${name} is not served`);
  return handler.run(fakeTaskContext(taskOf(name, input, options.needsStart), options));
}

async function call(name: string, input: object = {}): Promise<unknown> {
  const outcome = await run(name, input);
  if (outcome.case !== "function" || outcome.value.output?.kind.case !== "json") throw new Error(JSON.stringify(errorOf(outcome)));
  return JSON.parse(outcome.value.output.kind.value);
}

function errorOf(outcome: Outcome): { code: ErrorCode; reason: string; message: string; unknown: boolean } | undefined {
  if (outcome.case !== "failure" || outcome.value.error === undefined) return undefined;
  const { code, reason, message } = outcome.value.error;
  return { code, reason, message, unknown: outcome.value.unknown };
}

const failed = async (name: string, input: object = {}) => errorOf(await run(name, input));

const cancelled = () => new ForgeError(ErrorCode.CANCELLED, "cancelled");

describe("discovery", () => {
  test("finds what is exported and named for others, and runs nothing of it in this process", async () => {
    write(
      "parse.ts",
      `globalThis.loadedHere = true; export function parse_report(): object { return {}; } export const short = async () => ({}); export function _helper() {}`,
    );
    write("shapes.mjs", "export class Shape {} export const size = 3; export default function () {} export function area() { return {}; }");
    write("_private.ts", "export function hidden() {}");
    write("parse.spec.ts", "export function hidden() {}");
    write("types.d.ts", "export function hidden(): void;");
    write("notes.txt", "");
    const { handlers, errors } = await serve();
    expect(handlers.map(({ capability }) => capability.name)).toEqual(["parse.parse_report", "parse.short", "shapes.area"]);
    expect(errors).toEqual([]);
    expect(globalThis).not.toHaveProperty("loadedHere");
  });

  test("tells which files can't be loaded, and serves the others", async () => {
    write("a_broken.ts", "export function f( {");
    write("b_throws.ts", "throw new Error('at the top');");
    write("c_exits.ts", "process.exit(0);");
    write("d_missing.ts", "import './nowhere.ts';");
    write("same.js", "export function one() { return {}; }");
    write("same.ts", "export function two() { return {}; }");
    write("works.ts", "export function f() { return {}; }");
    const { handlers, errors } = await serve();
    expect(handlers.map(({ capability }) => capability.name)).toEqual(["same.one", "works.f"]);
    expect(errors.map(({ file, message }) => [file.split("/").at(-1), message])).toEqual([
      ["a_broken.ts", expect.stringContaining("SyntaxError")],
      ["b_throws.ts", expect.stringContaining("at the top")],
      ["c_exits.ts", expect.stringContaining("ended with exit code 0")],
      ["d_missing.ts", expect.stringContaining("nowhere.ts")],
      ["same.ts", "same.js has the same name"],
    ]);
  });

  test("a project without functions has none", async () => {
    rmSync(join(project, "functions"), { recursive: true });
    expect(await serve()).toMatchObject({ handlers: [], errors: [] });
  });
});

describe("a call", () => {
  test("gets inputs and context, and its promise is awaited", async () => {
    write(
      "m.ts",
      `import type { FunctionContext } from "@forge/tools";
       export async function f(inputs: { a: number }, context: FunctionContext) {
         const { signal, heartbeat: _, ...rest } = context;
         return { inputs, rest, aborted: signal.aborted, cwd: process.cwd() };
       }`,
    );
    await serve();
    expect(await call("m.f", { a: 1, text: "grüße 😀" })).toEqual({
      inputs: { a: 1, text: "grüße 😀" },
      rest: { runId: "run-1", stepId: "step-1", attempt: 2, idempotencyKey: "key-1" },
      aborted: false,
      cwd: project,
    });
  });

  test("says that it goes on by what it prints, and by saying so", async () => {
    write("m.ts", `export const f = (_, { heartbeat }) => { heartbeat(); heartbeat(); console.log("still here"); return {}; };`);
    await serve();
    const context = fakeTaskContext(taskOf("m.f", {}));
    await served?.handlers.find(({ capability }) => capability.name === "m.f")?.run(context);
    expect(context.heartbeats()).toBe(3);
    expect(context.clock).toEqual(["queued", "begun"]);
  });

  test("with more than its process can be given is refused, and the process serves the next", async () => {
    write("m.ts", "export const f = ({ a }) => ({ length: a.length });");
    await serve();
    const half = "x".repeat(9 * 1024 * 1024);
    expect(await failed("m.f", { a: half, b: half })).toMatchObject({ reason: "FUNCTION_INPUT", message: expect.stringContaining("at most 16 MiB") as string });
    expect(await call("m.f", { a: half })).toEqual({ length: half.length });
  });

  test("sees only the environment that it is allowed", async () => {
    write("m.ts", "export const f = () => ({ ...process.env });");
    process.env.FORGE_TEST_API_KEY = "secret";
    try {
      await serve({ environment: { GIVEN: "yes" } });
      const environment = await call("m.f");
      expect(environment).toMatchObject({ GIVEN: "yes" });
      expect(JSON.stringify(environment)).not.toContain("secret");
    } finally {
      delete process.env.FORGE_TEST_API_KEY;
    }
  });

  test("may be large both ways", async () => {
    write("m.ts", "export const f = ({ text }) => ({ text: text + text });");
    await serve();
    const outcome = await run("m.f", { text: "x".repeat(3_000_000) });
    expect(outcome).toMatchObject({ case: "function", value: { output: { kind: { case: "artifact", value: { size: 6_000_011n } } } } });
  });

  test("is started first where it must be, once a process is there", async () => {
    write("m.ts", "export const f = () => ({});");
    await serve();
    const refusedStart = { needsStart: true, start: () => Promise.reject(new ForgeError(ErrorCode.CONFLICT, "fenced")) };
    expect(errorOf(await run("m.f", {}, refusedStart))).toMatchObject({ code: ErrorCode.CONFLICT });
    let started = false;
    const start = async () => {
      started = true;
    };
    expect((await run("m.f", {}, { needsStart: true, start })).case).toBe("function");
    expect(started).toBe(true);
  });

  test("prints into log lines, bounded, and breaks nothing by it", async () => {
    write(
      "m.ts",
      `import { writeSync } from "node:fs";
       export function f() {
         console.log("to stdout\\nsecond"); console.error("to stderr"); writeSync(1, "x".repeat(10_000) + "\\n");
         for (let i = 0; i < 3_000; i++) console.log(i);
         process.stdout.write("no end");
         return { ok: true };
       }`,
    );
    await serve();
    expect(await call("m.f")).toEqual({ ok: true });
    await eventually("the last line", () => logged.some(({ text }) => text.includes("left out")));
    expect(logged[0]).toEqual({ function: "m.f", runId: "run-1", stepId: "step-1", stream: "stdout", text: "to stdout" });
    expect(logged.some(({ stream, text }) => stream === "stderr" && text === "to stderr")).toBe(true);
    expect(Math.max(...logged.map(({ text }) => text.length))).toBe(4_096);
    expect(logged.length).toBeLessThan(1_100);
  });

  test("overlaps others, up to the size of the pool", async () => {
    write(
      "m.ts",
      `import { existsSync, writeFileSync } from "node:fs";
       export async function meet({ mine, other }) {
         writeFileSync(mine, "");
         while (!existsSync(other)) await new Promise((resolve) => setTimeout(resolve, 5));
         return { pid: process.pid };
       }`,
    );
    await serve();
    const [one, other] = [join(project, "one"), join(project, "other")];
    const results = await Promise.all([call("m.meet", { mine: one, other }), call("m.meet", { mine: other, other: one })]);
    expect(results).toHaveLength(2);
  });

  test("comes to a warm process, one call at a time", async () => {
    write(
      "m.ts",
      "let calls = 0; let open = 0; export async function f() { open++; await 1; const together = open; open--; return { calls: ++calls, together }; }",
    );
    await serve({ poolSize: 1 });
    const results = (await Promise.all(Array.from({ length: 20 }, () => call("m.f")))) as { calls: number; together: number }[];
    expect(results.map(({ calls }) => calls).toSorted((one, other) => one - other)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(results.every(({ together }) => together === 1)).toBe(true);
  });

  test("runs the file as it is now, and what it imports", async () => {
    write("helper.ts", "export const value = 1;");
    write("m.ts", `import { value } from "./helper.ts"; export const f = () => ({ value, version: 1 });`);
    await serve({ poolSize: 1 });
    expect(await call("m.f")).toEqual({ value: 1, version: 1 });
    write("helper.ts", "export const value = 2;");
    expect(await call("m.f")).toEqual({ value: 2, version: 1 });
    write("m.ts", "export const f = () => { syntax error");
    expect(await failed("m.f")).toMatchObject({ reason: "FUNCTION_LOAD" });
    write("m.ts", "export const g = () => ({});");
    expect(await failed("m.f")).toMatchObject({ code: ErrorCode.NOT_FOUND, reason: "FUNCTION_NOT_FOUND" });
    write("m.ts", `import { late } from "./late.ts"; export const f = () => ({ late });`);
    expect(await failed("m.f")).toMatchObject({ reason: "FUNCTION_LOAD" });
    write("late.ts", "export const late = true;");
    expect(await call("m.f")).toEqual({ late: true });
  });
});

describe("a failing function", () => {
  test("is settled with what it threw and where, and the process serves on", async () => {
    write(
      "m.ts",
      `let calls = 0;
       export function f() { calls++; inner(); }
       function inner() { throw new TypeError("no title", { cause: new Error("the cause") }); }
       export async function rejects() { throw "just text"; }
       export const count = () => ({ calls });`,
    );
    await serve({ poolSize: 1 });
    const error = await failed("m.f");
    expect(error).toMatchObject({ code: ErrorCode.INTERNAL, reason: "STEP_EXECUTION", unknown: false });
    expect(error?.message).toMatch(/^m\.f threw: TypeError: no title\n\s+at inner \(.*m\.ts:3/);
    expect(error?.message).toContain("the cause");
    expect(error?.message).not.toContain("function-child");
    expect((await failed("m.rejects"))?.message).toBe("m.rejects threw: just text");
    expect(await call("m.count")).toEqual({ calls: 1 });
  });

  test.each([
    ["undefined", "undefined", "the result must be an object, not undefined"],
    ["a list", "[1]", "the result must be an object, not an array"],
    ["a text", "'x'", "the result must be an object, not a string"],
    ["an undefined member", "({ a: { b: undefined } })", "result.a.b is undefined, which JSON does not have"],
    ["NaN", "({ list: [0, NaN] })", "result.list[1] is NaN, which JSON does not have"],
    ["a date", "({ at: new Date(0) })", "result.at is an instance of Date; return plain objects and arrays"],
    ["a map", "({ m: new Map() })", "result.m is an instance of Map; return plain objects and arrays"],
    ["a bigint", "({ n: 1n })", "result.n is a bigint, which JSON does not have"],
    ["a function", "({ toJSON() { return {} } })", "result.toJSON is a function, which JSON does not have"],
    ["a circle", "(() => { const a = { b: {} }; a.b.a = a; return a; })()", "result.b.a is circular: it contains itself"],
    ["half an emoji", "({ title: '😀'.slice(0, 1) })", "result.title holds half of a character"],
    ["a hole", "({ list: [, 1] })", "result.list[0] is undefined"],
  ])("is told that its result can't be stored: %s", async (_, expression, message) => {
    write("m.ts", `export const f = () => ${expression};`);
    await serve({ poolSize: 1 });
    const error = await failed("m.f");
    expect(error).toMatchObject({ code: ErrorCode.VALIDATION, reason: "FUNCTION_RESULT" });
    expect(error?.message).toContain(message);
  });

  test.each([
    ["process.exit(0)", "ended with exit code 0 before the function returned"],
    ["console.error('bye'); process.exit(3)", "ended with exit code 3 before the function returned; it had printed: bye"],
    ["process.kill(process.pid, 'SIGKILL')", "ended by SIGKILL"],
    ["process.abort()", "ended by SIGABRT"],
  ])("that ends its process (%s) is settled, and the process replaced", async (code, message) => {
    write("m.ts", `export function f() { ${code}; return new Promise(() => {}); } export const alive = () => ({});`);
    await serve({ poolSize: 1 });
    const error = await failed("m.f");
    expect(error).toMatchObject({ reason: "FUNCTION_EXITED", unknown: false });
    expect(error?.message).toContain(message);
    expect(await call("m.alive")).toEqual({});
  });

  test("that uses too much memory is settled, and the process replaced", async () => {
    write("m.ts", "export function f() { const all = []; for (;;) all.push(new Array(10_000).fill({})); } export const alive = () => ({});");
    await serve({ poolSize: 1, heapMibMax: 40 });
    expect(await failed("m.f")).toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "FUNCTION_OUT_OF_MEMORY" });
    expect(await call("m.alive")).toEqual({});
  });

  test("is blamed for what it left behind only while it runs; another call is not", async () => {
    write(
      "m.ts",
      `export function leave() { setTimeout(() => { throw new Error("late"); }, 20); return {}; }
       export const wait = () => new Promise((resolve) => setTimeout(() => resolve({ ok: true }), 100));
       export function own() { Promise.reject(new Error("nobody waits")); return new Promise(() => {}); }`,
    );
    await serve({ poolSize: 1 });
    expect(await call("m.leave")).toEqual({});
    expect(await call("m.wait")).toEqual({ ok: true });
    expect(logged.some(({ text }) => text.includes("left behind by an earlier call: Error: late"))).toBe(true);
    expect((await failed("m.own"))?.message).toContain("nobody waits");
    expect(await call("m.wait")).toEqual({ ok: true });
  });
});

describe("an interrupted function", () => {
  test.each([
    ["a cancel", cancelled(), "cancelled"],
    ["the deadline", new ForgeError(ErrorCode.DEADLINE_EXCEEDED, "out of time"), "failure"],
    ["a lost lease", new ForgeError(ErrorCode.WORKER_LOST, "lost"), "cancelled"],
  ])("that loops without end is killed at %s", async (_, reason, settledAs) => {
    write("m.ts", "export function f() { console.log('looping'); for (;;); } export const alive = () => ({});");
    await serve({ poolSize: 1 });
    const abort = new AbortController();
    const outcome = run("m.f", {}, { signal: abort.signal });
    await eventually("the loop", () => logged.length > 0);
    abort.abort(reason);
    expect((await outcome).case).toBe(settledAs);
    if (settledAs === "failure") expect(errorOf(await outcome)).toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED, message: "out of time", unknown: false });
    expect(await call("m.alive")).toEqual({});
  });

  test("gets its signal, and what it started is gone as well", async () => {
    const mark = `sleep ${600_000 + process.pid}`;
    write(
      "m.ts",
      `import { spawn } from "node:child_process";
       export function f(inputs, { signal }) {
         spawn("setsid", ${JSON.stringify(mark.split(" "))}, { detached: true, stdio: "ignore" });
         return new Promise((resolve) => signal.addEventListener("abort", () => { console.log("told: " + signal.reason.message); resolve({ partial: true }); }));
       }`,
    );
    await serve({ poolSize: 1 });
    const abort = new AbortController();
    const outcome = run("m.f", {}, { signal: abort.signal });
    await eventually("its process", async () => (await processesWith(mark.replace(" ", "\0"))).length > 0);
    abort.abort(cancelled());
    expect((await outcome).case).toBe("function");
    expect(logged.map(({ text }) => text)).toContain("told: cancelled");
    expect(await processesWith(mark.replace(" ", "\0"))).toEqual([]);
  });

  test("that still waits for a process never runs", async () => {
    write(
      "m.ts",
      "export const hang = () => { console.log('hanging'); return new Promise(() => {}); }; export function f() { console.log('ran'); return {}; }",
    );
    await serve({ poolSize: 1 });
    const [first, second] = [new AbortController(), new AbortController()];
    const hanging = run("m.hang", {}, { signal: first.signal });
    const waiting = run("m.f", {}, { signal: second.signal });
    await eventually("the first call", () => logged.length > 0);
    second.abort(cancelled());
    expect((await waiting).case).toBe("cancelled");
    first.abort(cancelled());
    await hanging;
    expect(logged.map(({ text }) => text)).toEqual(["hanging"]);
    expect((await run("m.f")).case).toBe("function");
  });
});

test.each([undefined, { kind: "marked" } as const])("closing ends the processes, and so does kill -9 of the owner (isolation %j)", async (isolation) => {
  write("m.ts", `import { spawn } from "node:child_process"; export function f() { spawn("sleep", ["1000"], { stdio: "ignore" }); return {}; }`);
  await serve({ isolation });
  await call("m.f");
  // The module's path is in no command line, but the heap's bound is.
  const heapMibMax = 300 + (process.pid % 1_000);
  const ofPool = `--max-old-space-size=${heapMibMax}`;
  await served?.close();
  await serve({ heapMibMax, isolation });
  await call("m.f");
  expect(await processesWith(ofPool)).not.toEqual([]);
  await served?.close();
  expect(await processesWith(ofPool)).toEqual([]);

  const owner = `
    import { createFunctionHandlers } from ${JSON.stringify(new URL("./function-handlers.ts", import.meta.url).href)};
    await createFunctionHandlers({ functionsDirectory: ${JSON.stringify(join(project, "functions"))}, heapMibMax: ${heapMibMax}, isolation: ${JSON.stringify(isolation)} });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", owner], { stdio: "ignore" });
  await eventually("a function process", async () => (await processesWith(ofPool)).length > 0);
  child.kill("SIGKILL");
  await eventually("no function process", async () => (await processesWith(ofPool)).length === 0);
});
