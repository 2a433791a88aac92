import { rm } from "node:fs/promises";
import path from "node:path";
import { type OpenAiServer, startOpenAiServer, statusReply, streamReply } from "@forge/agent/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pythonWithForge } from "../harness/python.ts";
import { execute, openForge, openForrestRun, type Ran, type Runtime } from "./runtimes.ts";

let model: OpenAiServer;
let theirs: Runtime;
let ours: Runtime;

beforeAll(async () => {
  model = await startOpenAiServer();
  const environment = { MODEL_URL: model.baseUrl };
  theirs = await openForrestRun(environment);
  // The machine's own interpreter, which lacks the package: its tools import what Forge brings.
  ours = await openForge("python3", environment);
}, 300_000);
afterAll(async () => {
  await ours?.[Symbol.asyncDispose]();
  await theirs?.[Symbol.asyncDispose]();
  await model?.close();
});

async function both(...words: readonly string[]): Promise<{ readonly expected: Ran; readonly actual: Ran }> {
  const [expected, actual] = [await theirs.run(...words), await ours.run(...words)];
  expect(expected.refusal, "what ForrestRun said instead of running").toBe("");
  expect(actual.refusal, "what Forge said instead of running").toBe("");
  return { expected, actual };
}

/** What must be the same: errors are told in words of each runtime's own. */
function facts({ status, steps, state }: Ran) {
  return { status, steps: steps.map(({ error, ...step }) => ({ ...step, failed: error !== "" })), state };
}

/** A model's answer as ForrestRun asks for it. */
function whole(content: string) {
  const answer = { id: "1", model: "gpt-test", choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }] };
  return statusReply(200, { ...answer, usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 } });
}

/** The same as Forge does. */
function streamed(...pieces: readonly string[]) {
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", model: "gpt-test", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  return streamReply([...pieces.map((content) => chunk({ role: "assistant", content }, null)), chunk({}, "stop"), "data: [DONE]\n\n"]);
}

/** What the model was asked since so many requests. */
function asksSince(count: number) {
  return model.requests
    .slice(count)
    .map(({ body: { model: name, messages, temperature, max_tokens } }) => ({ name, messages: messages as unknown[], temperature, max_tokens }));
}

describe("a project of ForrestRun, unchanged", () => {
  it.each([
    ["functions one after the other", ["linear"], "COMPLETED"],
    ["functions one after the other, with an input", ["linear", "-i", "topic=leases"], "COMPLETED"],
    ["the first rule of a branch", ["triage", "-i", "issue=The API is down"], "COMPLETED"],
    ["the second rule of a branch", ["triage", "-i", "issue=The API is slow"], "COMPLETED"],
    ["the default of a branch", ["triage", "-i", "issue=a typo"], "COMPLETED"],
    ["a function that fails", ["fail-fast"], "FAILED"],
    ["a function that fails, and the run goes on", ["goes-on"], "COMPLETED_WITH_ERRORS"],
    ["a function that fails, whose own branch the run goes on by", ["fails-and-branches"], "COMPLETED_WITH_ERRORS"],
    ["retries", ["retries"], "COMPLETED_WITH_ERRORS"],
    ["contracts that are violated", ["contracts"], "COMPLETED_WITH_ERRORS"],
    ["a workflow's file", ["workflows/goes-on.yaml"], "COMPLETED_WITH_ERRORS"],
  ])("has the same statuses, branches, inputs, outputs and state: %s", async (_, words, status) => {
    const { expected, actual } = await both(...words);
    expect(facts(actual)).toEqual(facts(expected));
    expect(actual.status).toBe(status);
  });

  it("has its tools called the same, and told of the same failures", async () => {
    const { expected, actual } = await both("tool-steps", "-i", "text=hey");
    expect(facts(actual)).toEqual(facts(expected));
    expect(actual.status).toBe("COMPLETED_WITH_ERRORS");
    expect(actual.steps.filter(({ status }) => status === "FAILED").map(({ id }) => id)).toEqual(["refuse", "dict", "wrong_type", "missing", "unknown"]);
  });

  it("says what a function raised, as it did", async () => {
    const { expected, actual } = await both("fail-fast");
    const [raised] = expected.steps.at(-1)?.error.split("\n") ?? [];
    expect(raised).toBe("ValueError: out of luck");
    expect(actual.steps.at(-1)?.error).toContain(raised);
  });

  it.each([
    ["no rule of a branch is true", ["no-branch", "-i", "issue=x"]],
    ["a branch reads what its step failed to put out", ["fails-and-reads"]],
    ["a branch goes back", ["circle"]],
    ["an output can't be kept", ["instance"]],
  ])("fails where %s; steps that ForrestRun then forgets are kept", async (_, words) => {
    const { expected, actual } = await both(...words);
    expect([expected.status, actual.status]).toEqual(["FAILED", "FAILED"]);
    const ids = ({ steps }: Ran) => steps.map(({ id }) => id);
    expect(ids(actual).slice(0, expected.steps.length)).toEqual(ids(expected));
  });

  it("asks its agent's model the same, and takes its answer the same", async () => {
    const before = model.requests.length;
    model.enqueue(whole("A short text."));
    const expected = await theirs.run("agent", "-i", "topic=leases");
    model.enqueue(streamed("A short ", "text."));
    const actual = await ours.run("agent", "-i", "topic=leases");
    expect(facts(actual)).toEqual(facts(expected));
    expect(actual.state).toMatchObject({ steps: { write: { text: "A short text." }, after: { echo: { text: "A short text." } } } });
    const [asked, askedByUs] = asksSince(before);
    expect(askedByUs).toEqual(asked);
  });

  it("goes through an agent's pipeline the same, with its prompts by reference and its own key for the answer", async () => {
    const before = model.requests.length;
    for (const text of ["one, two", "That is all."]) model.enqueue(whole(text));
    const expected = await theirs.run("pipeline", "-i", "topic=leases");
    for (const text of ["one, two", "That is all."]) model.enqueue(streamed(text));
    const actual = await ours.run("pipeline", "-i", "topic=leases");
    expect(facts(actual)).toEqual(facts(expected));
    expect(actual.state).toMatchObject({ steps: { report: { report: "That is all." }, after: { echo: { text: "That is all." } } } });
    const asked = asksSince(before);
    expect(asked.slice(2)).toEqual(asked.slice(0, 2));
    expect(asked[1]?.messages).toMatchObject([{ content: "You close." }, { content: "Close with one, two and ONE, TWO! about leases." }]);
  });

  it("runs an agent by its own id the same, with what it is given as its inputs", async () => {
    model.enqueue(whole("A short text."));
    const expected = await theirs.run("writer", "-i", "topic=leases", "-i", "length=9");
    model.enqueue(streamed("A short text."));
    const actual = await ours.run("writer", "-i", "topic=leases", "-i", "length=9");
    expect(actual.state?.steps).toEqual({ writer: { text: "A short text." } });
    expect([actual.status, actual.state?.steps]).toEqual([expected.status, expected.state?.steps]);
  });
});

it("runs the same with the package itself in place of what Forge brings", async () => {
  await using real = await openForge(await pythonWithForge(), { MODEL_URL: model.baseUrl });
  expect(facts(await real.run("tool-steps", "-i", "text=hey"))).toEqual(facts(await ours.run("tool-steps", "-i", "text=hey")));
});

it("outlives functions that would end ForrestRun, and says what each did", async () => {
  const { status, steps, refusal } = await ours.run("hostile");
  expect({ status, refusal }).toEqual({ status: "COMPLETED_WITH_ERRORS", refusal: "" });
  expect(steps.map(({ id, status: end, error }) => [id, end, error])).toEqual([
    ["exits", "FAILED", expect.stringContaining("SystemExit: goodbye")],
    ["dies", "FAILED", expect.stringContaining("ended with exit code 9")],
    ["crashes", "FAILED", expect.stringContaining("SIGSEGV")],
    ["never", "FAILED", "the task took longer than it may"],
    ["not_a_number", "FAILED", expect.stringContaining("result.value is nan")],
    ["circular", "FAILED", expect.stringContaining("contains itself")],
    ["lacking", "FAILED", expect.stringContaining("No module named 'a_package_that_nobody_has'")],
    ["floods", "COMPLETED", ""],
  ]);
});

it("calls a tool that is not async as well, which ForrestRun can't", async () => {
  const { expected, actual } = await both("sync-tool");
  expect(expected.status).toBe("FAILED");
  expect(actual).toMatchObject({ status: "COMPLETED", state: { steps: { sync: { text: "hey" } } } });
});

it("runs what `ai init` makes", async () => {
  const python = await pythonWithForge();
  await using first = await openForrestRun();
  await using second = await openForge("python3");
  for (const { root } of [first, second]) {
    for (const name of ["runtime.yaml", "workflows", "functions", "tools", "agents"]) await rm(path.join(root, name), { recursive: true, force: true });
    await execute(python, ["-c", "import sys; from agent_runtime.cli import main; sys.exit(main())", "init"], root);
  }
  const [expected, actual] = [await first.run("workflows/hello.yaml"), await second.run("workflows/hello.yaml")];
  expect(facts(actual)).toEqual(facts(expected));
  expect(actual.state?.steps).toEqual({ greet: { message: "hello from forrestrun" } });
});
