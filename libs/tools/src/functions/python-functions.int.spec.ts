import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode, ValueSchema } from "@forge/protocol/common";
import { RiskLevel } from "@forge/protocol/tool";
import { type Task, TaskSchema } from "@forge/protocol/worker";
import { RunSchema, StepStatus } from "@forge/protocol/workflow";
import type { Outcome } from "@forge/worker";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FakeTaskContext, type FakeTaskContextOptions, fakeTaskContext } from "../testing/fake-task-context.ts";
import { eventually, processesWith } from "../testing/processes.ts";
import type { FunctionLogLine } from "./function-handler.ts";
import { createFunctionHandlers, type FunctionHandlers, type FunctionHandlersOptions } from "./function-handlers.ts";

const lacksPython = spawnSync("python3", ["-c", "import sys; sys.exit(sys.version_info < (3, 10))"]).status !== 0;
if (lacksPython) console.warn("functions and tools in Python are not tested: there is no python3 of 3.10 or newer");

let project: string;
let served: FunctionHandlers | undefined;
let logged: FunctionLogLine[];

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "forge-python-")));
  logged = [];
});

afterEach(async () => {
  await served?.close();
  served = undefined;
  rmSync(project, { recursive: true, force: true });
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(project, name)), { recursive: true });
  writeFileSync(join(project, name), text);
}

async function serve(options: Partial<FunctionHandlersOptions> = {}): Promise<FunctionHandlers> {
  served = await createFunctionHandlers({
    functionsDirectory: join(project, "functions"),
    toolsDirectory: join(project, "tools"),
    poolSize: 2,
    log: (line) => logged.push(line),
    ...options,
  });
  return served;
}

const json = (value: unknown) => create(ValueSchema, { kind: { case: "json", value: JSON.stringify(value) } });

function functionTask(name: string, input: object): Task {
  const values = Object.fromEntries(Object.entries(input).map(([key, value]) => [key, json(value)]));
  return create(TaskSchema, {
    kind: { case: "function", value: { name, runId: "run-1", stepId: "step-1", attempt: 2, input: values } },
    idempotencyKey: "key-1",
  });
}

function toolTask(tool: string, input: object): Task {
  const call = { toolCallId: "call-1", tool, argumentsJson: JSON.stringify(input), runId: "run-1", stepId: "step-1" };
  return create(TaskSchema, { kind: { case: "tool", value: call }, idempotencyKey: "key-1", needsStart: true });
}

function handle(task: Task, options: FakeTaskContextOptions = {}): { outcome: Promise<Outcome>; context: FakeTaskContext } {
  const kind = task.kind;
  const name = kind.case === "tool" ? kind.value.tool : kind.case === "function" ? kind.value.name : "";
  const handler = served?.handlers.find(({ capability }) => capability.name === name);
  if (handler === undefined) throw new Error(`${name} is not served`);
  const context = fakeTaskContext(task, options);
  return { outcome: handler.run(context), context };
}

function valueOf(outcome: Outcome): unknown {
  if ((outcome.case !== "function" && outcome.case !== "tool") || outcome.value.output?.kind.case !== "json") throw new Error(JSON.stringify(errorOf(outcome)));
  return JSON.parse(outcome.value.output.kind.value);
}

function errorOf(outcome: Outcome): { code: ErrorCode; reason: string; message: string; unknown: boolean } | undefined {
  if (outcome.case !== "failure" || outcome.value.error === undefined) return undefined;
  const { code, reason, message } = outcome.value.error;
  return { code, reason, message, unknown: outcome.value.unknown };
}

const call = async (name: string, input: object = {}) => valueOf(await handle(functionTask(name, input)).outcome);
const failed = async (name: string, input: object = {}) => errorOf(await handle(functionTask(name, input)).outcome);
const use = async (name: string, input: object = {}) => valueOf(await handle(toolTask(name, input)).outcome);
const misused = async (name: string, input: object = {}) => errorOf(await handle(toolTask(name, input)).outcome);

describe.skipIf(lacksPython)("functions of Python", () => {
  test("are found beside those of TypeScript, below directories, and without running the file", async () => {
    write(
      "functions/stubs.py",
      "open('ran', 'w')\ndef one(inputs): return {}\nasync def two(inputs): return {}\nthree = lambda inputs: {}\nfour = 4\ndef _five(): ...",
    );
    write("functions/reporting/format.py", "def page(inputs): return {}\nclass Page: ...");
    write("functions/tests/test_stubs.py", "def test_one(): ...");
    write("functions/_private.py", "def hidden(inputs): return {}");
    write("functions/typed.ts", "export function six() { return {}; }");
    const { handlers, errors } = await serve();
    expect(handlers.map(({ capability }) => capability.name)).toEqual([
      "typed.six",
      "reporting.format.page",
      "stubs.one",
      "stubs.three",
      "stubs.two",
      "page",
      "one",
      "three",
      "two",
    ]);
    expect(errors).toEqual([]);
    expect(existsSync(join(project, "ran"))).toBe(false);
  });

  test("that two files offer under one name are ambiguous: both are named, and neither is served", async () => {
    write("functions/stubs.py", "def one(inputs): return {}\ndef two(inputs): return {}");
    write("functions/stubs.ts", "export function one() { return {}; }");
    const { handlers, errors } = await serve();
    expect(handlers.map(({ capability }) => capability.name)).toEqual(["stubs.two", "two"]);
    expect(errors.map(({ message }) => message)).toEqual(["stubs.one is ambiguous: stubs.ts and stubs.py both have it"]);
  });

  test("are told apart by what is wrong with their file", async () => {
    write("functions/broken.py", "def f(:");
    write("functions/works.py", "def f(inputs): return {}");
    const { handlers, errors } = await serve();
    expect(handlers.map(({ capability }) => capability.name)).toEqual(["works.f", "f"]);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(/SyntaxError/)]);
  });

  test("are not served where there is no Python for them, and those of TypeScript are", async () => {
    write("functions/stubs.py", "def one(inputs): return {}");
    write("functions/typed.ts", "export function six() { return {}; }");
    const { handlers, errors } = await serve({ python: "no-such-python" });
    expect(handlers.map(({ capability }) => capability.name)).toEqual(["typed.six"]);
    expect(errors.map(({ message }) => message)).toEqual([expect.stringMatching(/^no-such-python can't run it .* FORGE_PYTHON$/)]);
  });

  test("are called with one dict, the mapped inputs on top of the run's state, which is fetched only when it is looked at", async () => {
    write(
      "functions/m.py",
      `def mapped(inputs): return {"topic": inputs["topic"], "none": inputs.get("other"), "has": "topic" in inputs}
def steps(inputs): return {"before": inputs["steps"]["a"]["x"], "topic": inputs["topic"]}
def all(inputs): return {"keys": sorted(inputs), "spread": sorted({**inputs}), "same": dict(inputs) == inputs, "run": inputs["runtime"]["run_id"]}
def two(inputs, context): return {"run": context.run_id, "step": context.step_id, "attempt": context.attempt, "key": context.idempotency_key}
async def later(inputs): return {"topic": inputs["topic"]}`,
    );
    let reads = 0;
    const run = create(RunSchema, {
      workflowId: "w",
      workflowVersion: "v1",
      inputs: json({ topic: "given" }),
      steps: [
        { stepId: "a", status: StepStatus.COMPLETED, output: json({ x: 7 }) },
        { stepId: "step-1", status: StepStatus.RUNNING },
      ],
    });
    await serve({
      readRun: async () => {
        reads++;
        return run;
      },
    });
    expect(await call("m.mapped", { topic: "t" })).toEqual({ topic: "t", none: null, has: true });
    expect(await call("m.later", { topic: "t" })).toEqual({ topic: "t" });
    expect(await call("mapped", { topic: "short" })).toMatchObject({ topic: "short" });
    expect(reads).toBe(0);
    expect(await call("m.steps", { topic: "t" })).toEqual({ before: 7, topic: "t" });
    const keys = ["inputs", "runtime", "steps", "topic"];
    expect(await call("m.all", { topic: "t" })).toEqual({ keys, spread: keys, same: true, run: "run-1" });
    expect(reads).toBe(2);
    expect(await call("m.two")).toEqual({ run: "run-1", step: "step-1", attempt: 2, key: "key-1" });
    const state = { inputs: { topic: "whole" }, steps: { a: { x: 8 } }, runtime: { run_id: "run-1" } };
    await expect(call("m.steps", state)).rejects.toThrow("KeyError: 'topic'");
    expect(reads).toBe(2);
  });

  test("leave no thread behind that reads the state of the run that comes next", async () => {
    write(
      "functions/m.py",
      `import threading
seen, threads, go = [], [], threading.Event()
def leave(inputs):
    def read():
        go.wait()
        try:
            seen.append(inputs["steps"])
        except Exception as error:
            seen.append(str(error))
    threads.append(threading.Thread(target=read))
    threads[0].start()
    return {}
def after(inputs):
    go.set()
    threads[0].join()
    return {"seen": list(seen), "own": inputs["steps"]}`,
    );
    const run = create(RunSchema, { workflowId: "w", inputs: json({}), steps: [{ stepId: "a", status: StepStatus.COMPLETED, output: json("secret") }] });
    await serve({ readRun: async () => run });
    expect(await call("m.leave", { topic: "t" })).toEqual({});
    expect(await call("m.after", { topic: "t" })).toEqual({
      seen: ["the call that was given this has ended: read the run's state while it runs"],
      own: { a: "secret" },
    });
  });

  test("may print, and nothing breaks by it", async () => {
    write(
      "functions/m.py",
      "import sys, os\nprint('at import')\nos.write(1, b'raw\\n')\ndef f(inputs):\n    print('hé', flush=True)\n    print('err', file=sys.stderr)\n    return {'a': 'ü'}",
    );
    await serve();
    expect(await call("m.f")).toEqual({ a: "ü" });
    expect(logged.map(({ stream, text }) => `${stream} ${text}`).toSorted()).toEqual(["stderr err", "stdout at import", "stdout hé", "stdout raw"]);
  });

  test.each([
    ["return None", "FUNCTION_RESULT", "returned None"],
    ["return [1]", "FUNCTION_RESULT", "instance of list"],
    ["return {'a': object()}", "FUNCTION_RESULT", "result.a is an instance of object"],
    ["return {'a': float('nan')}", "FUNCTION_RESULT", "result.a is nan"],
    ["d = {}; d['d'] = d; return d", "FUNCTION_RESULT", "contains itself"],
    ["return {'a': '\\ud800'}", "FUNCTION_RESULT", "half of a character"],
    ["raise ValueError('out of luck')", "STEP_EXECUTION", "ValueError: out of luck"],
    ["import nowhere_to_be_found", "STEP_EXECUTION", "ModuleNotFoundError"],
    ["import sys; sys.exit(3)", "STEP_EXECUTION", "SystemExit: 3"],
    ["raise KeyboardInterrupt", "STEP_EXECUTION", "KeyboardInterrupt"],
    ["import os; os._exit(3)", "FUNCTION_EXITED", "ended with exit code 3"],
    ["import ctypes; ctypes.string_at(0)", "FUNCTION_EXITED", "SIGSEGV"],
    ["import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "FUNCTION_EXITED", "SIGKILL"],
    ["import os; os.close(3); os._exit(0)", "FUNCTION_EXITED", "exit code"],
    ["f({})", "STEP_EXECUTION", "RecursionError"],
  ])("that do `%s` fail clearly, and the next call is served", async (body, reason, message) => {
    write("functions/m.py", `def f(inputs):\n    ${body}\ndef ok(inputs): return {"ok": True}`);
    await serve({ poolSize: 1 });
    expect(await failed("m.f")).toMatchObject({ reason, message: expect.stringContaining(message), unknown: false });
    expect(await call("m.ok")).toEqual({ ok: true });
  });

  test.each([
    ["import a_package_that_is_not_there", "FUNCTION_LOAD", "ModuleNotFoundError: No module named 'a_package_that_is_not_there'"],
    ["import sys; sys.exit(1)", "FUNCTION_LOAD", "SystemExit"],
    ["import os; os._exit(5)", "FUNCTION_EXITED", "exit code 5"],
    ["import ctypes; ctypes.string_at(0)", "FUNCTION_EXITED", "SIGSEGV"],
  ])("whose file does `%s` when it is imported fail clearly, and work once it is mended", async (line, reason, message) => {
    write("functions/m.py", `${line}\ndef f(inputs): return {}`);
    await serve();
    expect(await failed("m.f")).toMatchObject({ reason, message: expect.stringContaining(message) });
    write("functions/m.py", "def f(inputs): return {'mended': True}");
    expect(await call("m.f")).toEqual({ mended: true });
  });

  test("run the file as it is now, and what it imports", async () => {
    write("functions/m.py", "from functions.part import value\ndef f(inputs): return {'value': value}");
    write("functions/part.py", "value = 1");
    await serve();
    expect(await call("m.f")).toEqual({ value: 1 });
    write("functions/part.py", "value = 2");
    expect(await call("m.f")).toEqual({ value: 2 });
    write("functions/m.py", "def f(inputs): return {'value': 3}");
    expect(await call("m.f")).toEqual({ value: 3 });
    write("functions/m.py", "def g(inputs): return {}");
    expect(await failed("m.f")).toMatchObject({ reason: "FUNCTION_NOT_FOUND" });
  });

  test("keep what a module knows between calls", async () => {
    write("functions/m.py", "count = 0\ndef f(inputs):\n    global count\n    count += 1\n    return {'count': count}");
    await serve();
    expect([await call("m.f"), await call("m.f")]).toEqual([{ count: 1 }, { count: 2 }]);
  });

  test.each(["while True: pass", "import time; time.sleep(1000)", "import os; os.fork(); import time; time.sleep(1000)"])(
    "that never return (`%s`) are killed at the deadline, with all that they started",
    async (body) => {
      write("functions/m.py", `def f(inputs):\n    print('begun')\n    ${body}\ndef ok(inputs): return {'ok': True}`);
      await serve({ poolSize: 1 });
      const stop = new AbortController();
      const { outcome } = handle(functionTask("m.f", {}), { signal: stop.signal });
      await eventually("it runs", () => logged.some(({ text }) => text === "begun"));
      stop.abort(new ForgeError(ErrorCode.DEADLINE_EXCEEDED, "too late"));
      expect(errorOf(await outcome)).toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED });
      await eventually("nothing of it is left", async () => (await processesWith(project)).length === 0);
      expect(await call("m.ok")).toEqual({ ok: true });
    },
  );

  test("see the project's own environment and no other", async () => {
    write("functions/m.py", "import os\ndef f(inputs): return {name: os.environ.get(name) for name in ('OWN', 'FORGE_TEST_SECRET')}");
    process.env.FORGE_TEST_SECRET = "secret";
    await serve({ pythonEnvironment: { OWN: "yes" } });
    delete process.env.FORGE_TEST_SECRET;
    expect(await call("m.f")).toEqual({ OWN: "yes", FORGE_TEST_SECRET: null });
  });
});

const TOOL = `
from agent_runtime.tools.base import RuntimeContext, ToolResult

class Shout:
    name = "tools.shout"
    description = "Says it louder"
    input_schema = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string"}, "times": {"type": "integer"}}}
    timeout = None
    retries = None

    async def execute(self, input, context: RuntimeContext):
        print("shouting")
        context.logger.info("SHOUT", {"run": context.run_id})
        return ToolResult(success=True, output={"text": input["text"].upper(), "run": context.run_id, "step": context.step_id}, error=None, metadata=None)
`;

describe.skipIf(lacksPython)("tools of Python", () => {
  test("are the classes of a file that have the parts of one, with what they say of themselves", async () => {
    write("tools/base.py", "class Base:\n    name = 'tools.base'\n    description = 'x'\n    input_schema = {}\n    def execute(self, input, context): ...");
    write(
      "tools/more.py",
      `${TOOL}
from tools.base import Base
class _Hidden(Shout): name = "tools.hidden"
class Careful(Shout):
    name = "tools.careful"
    timeout = 2.5
    retries = 1
    risk = "read"
    idempotent = True
class NoTool: name = "tools.none"
class Needs(Shout):
    name = "tools.needs"
    def __init__(self, key): ...
instance = Shout()`,
    );
    write("tools/tests/test_more.py", TOOL);
    write("tools/broken.py", "import nowhere_to_be_found");
    write("tools/ends.py", "import os; os._exit(4)");
    const { handlers, errors } = await serve();
    const specs = handlers.map(({ capability: { tool } }) => tool);
    expect(specs.map((spec) => [spec?.name, spec?.idempotent, spec?.risk, Number(spec?.timeout?.seconds)])).toEqual([
      ["tools.base", false, RiskLevel.EXECUTE, 3600],
      ["tools.careful", true, RiskLevel.READ, 6],
      ["tools.shout", false, RiskLevel.EXECUTE, 3600],
    ]);
    expect(JSON.parse(specs[2]?.inputSchemaJson ?? "")).toMatchObject({ required: ["text"] });
    expect(errors.map(({ file, message }) => [file.split("/").at(-1), message])).toEqual([
      ["broken.py", expect.stringContaining("nowhere_to_be_found")],
      ["ends.py", expect.stringContaining("exit code 4")],
      ["more.py", expect.stringContaining("Needs could not be made")],
    ]);
  });

  test("are called with their arguments and a context, and what they print is shown", async () => {
    write("tools/shout.py", TOOL);
    await serve();
    const { outcome, context } = handle(toolTask("tools.shout", { text: "hey" }));
    expect(valueOf(await outcome)).toEqual({ text: "HEY", run: "run-1", step: "step-1" });
    expect(context.starts.map(({ case: kind }) => kind)).toEqual(["tool"]);
    expect(context.printed()).toBe("shouting\n");
    expect(logged.find(({ stream }) => stream === "stderr")?.text).toBe('{"level": "info", "event": "SHOUT", "run": "run-1"}');
  });

  test("are not called with arguments that their schema refuses", async () => {
    write("tools/shout.py", TOOL);
    await serve();
    expect(await misused("tools.shout", {})).toMatchObject({ reason: "TOOL_ARGUMENTS", message: expect.stringContaining("arguments.text is missing") });
    expect(await misused("tools.shout", { text: "a", times: true })).toMatchObject({
      message: expect.stringContaining("arguments.times must be of type integer"),
    });
    expect(logged).toEqual([]);
  });

  test("see the run's state, and nothing of it as arguments where their step maps none", async () => {
    write(
      "tools/look.py",
      `${TOOL}
class Look(Shout):
    name = "tools.look"
    input_schema = {}
    def execute(self, input, context):
        return ToolResult(True, {"input": input, "topic": context.state["inputs"]["topic"]}, None, None)`,
    );
    await serve({ readRun: async () => create(RunSchema, { inputs: json({ topic: "fetched" }) }) });
    expect(await use("tools.look", { a: 1 })).toEqual({ input: { a: 1 }, topic: "fetched" });
    expect(await use("tools.look", { inputs: { topic: "given" }, steps: {}, runtime: { run_id: "run-1" } })).toEqual({ input: {}, topic: "given" });
  });

  test.each([
    ["return ToolResult(False, None, 'no luck', None)", "STEP_EXECUTION", "no luck"],
    ["return {'a': 1}", "TOOL_RESULT", "must return a ToolResult"],
    ["return ToolResult(True, {'a': {1, 2}}, None, None)", "TOOL_RESULT", "result.a is an instance of set"],
    ["raise OSError('gone')", "STEP_EXECUTION", "OSError: gone"],
    ["import sys; sys.exit()", "STEP_EXECUTION", "SystemExit"],
  ])("that do `%s` fail clearly", async (body, reason, message) => {
    write(
      "tools/bad.py",
      `${TOOL}\nclass Bad(Shout):\n    name = "tools.bad"\n    input_schema = {}\n    async def execute(self, input, context):\n        ${body}`,
    );
    await serve();
    expect(await misused("tools.bad")).toMatchObject({ reason, message: expect.stringContaining(message), unknown: false });
  });

  test("whose process ends are unknown, and are tried again by nobody", async () => {
    write(
      "tools/bad.py",
      `${TOOL}\nclass Bad(Shout):\n    name = "tools.bad"\n    input_schema = {}\n    async def execute(self, input, context):\n        import os; os._exit(7)`,
    );
    await serve();
    expect(await misused("tools.bad")).toMatchObject({ message: expect.stringContaining("exit code 7"), unknown: true });
  });

  test("are tried as often as they say, and each attempt has its time", async () => {
    write(
      "tools/again.py",
      `${TOOL}
import asyncio
class Again(Shout):
    name = "tools.again"
    input_schema = {}
    timeout = 0.2
    retries = 2
    calls = 0
    async def execute(self, input, context):
        self.calls += 1
        if self.calls == 1: raise ValueError("first")
        if self.calls == 2: await asyncio.sleep(1000)
        return ToolResult(True, {"calls": self.calls}, None, None)
class Slow(Again):
    name = "tools.slow"
    retries = 0
    async def execute(self, input, context): await asyncio.sleep(1000)
class Stuck(Slow):
    name = "tools.stuck"
    async def execute(self, input, context):
        while True: pass`,
    );
    await serve();
    expect(await use("tools.again")).toEqual({ calls: 3 });
    expect(await misused("tools.slow")).toMatchObject({ message: expect.stringContaining("did not end within 0.2 s") });
    expect(await misused("tools.stuck")).toMatchObject({ code: ErrorCode.DEADLINE_EXCEEDED });
    expect(await use("tools.again")).toMatchObject({});
  });

  test("clean up when they are cancelled", async () => {
    write(
      "tools/wait.py",
      `${TOOL}
import asyncio
class Wait(Shout):
    name = "tools.wait"
    input_schema = {}
    async def execute(self, input, context):
        try:
            print("begun")
            await asyncio.sleep(1000)
        finally:
            open("cleaned", "w").close()`,
    );
    await serve();
    const stop = new AbortController();
    const { outcome } = handle(toolTask("tools.wait", {}), { signal: stop.signal });
    await eventually("it runs", () => logged.some(({ text }) => text === "begun"));
    stop.abort(new ForgeError(ErrorCode.CANCELLED, "cancelled"));
    expect((await outcome).case).toBe("cancelled");
    expect(existsSync(join(project, "cleaned"))).toBe(true);
  });
});
