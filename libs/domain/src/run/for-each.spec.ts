import { TurnOutcome, TurnStatus } from "@forge/protocol/session";
import { OnError, RunStatus } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { allExecutions } from "./executions.ts";
import {
  agentStep,
  artifact,
  cancelRun,
  fired,
  functionStep,
  json,
  literal,
  parsed,
  path,
  returned,
  returnedValue,
  runOf,
  runReport,
  SEARCH,
  type Step,
  started,
  subRunStep,
  taskCancelled,
  taskFailed,
  template,
  toolReturned,
  toolStep,
  turnReport,
  waitStep,
  workflow,
} from "./testing/run-fixture.ts";

type Options = Parameters<typeof functionStep>[1];
type RunOptions = Parameters<typeof runOf>[1];

function each(items: NonNullable<Step["forEach"]>["items"], options: Options & { as?: string; concurrency?: number; onItemError?: OnError } = {}): Step {
  const { as = "", concurrency = 0, onItemError = OnError.UNSPECIFIED, ...rest } = options;
  return functionStep("each", { forEach: { items, as, concurrency, onError: onItemError }, inputs: { it: path(as || "item") }, ...rest });
}

function listOf(items: unknown, options: Parameters<typeof each>[1] = {}, more: RunOptions & { more?: readonly Step[]; onError?: OnError } = {}) {
  const { more: after = [], onError = OnError.FAIL_FAST, ...rest } = more;
  return runOf(workflow([each(literal(items), options), ...after], { onError }), rest);
}

function finish(run: ReturnType<typeof runOf>, output: (index: number) => unknown): void {
  for (const { item } of allExecutions(run.state.executions)) if (item !== undefined) run.must(returned(run.keyOf("each", item.index), output(item.index)));
}

describe("a list", () => {
  it("is executed once for each item, and its output is theirs in its order", () => {
    const run = listOf(["x", "y", "z"]);
    expect(run.last("stepStarted").value).toMatchObject({ groupIndex: 0, itemIndex: 2, executionIndex: 3 });
    expect(run.work().map(({ key }) => key)).toEqual(["step:1:1", "step:2:1", "step:3:1"]);
    run.must(returned(run.keyOf("each", 2), "Z"));
    run.must(returned(run.keyOf("each", 0), "X"));
    expect(run.must(returned(run.keyOf("each", 1), "Y")).cases).toEqual(["stepCompleted", "stepCompleted", "runCompleted"]);
    expect(parsed(run.last("runCompleted").value.output)).toEqual(["X", "Y", "Z"]);
  });

  it("may be empty", () => {
    const run = listOf([], {}, { more: [functionStep("after", { inputs: { all: path("steps.each") } })] });
    expect(run.open("after").input).toMatchObject({ all: json([]) });
  });

  it.each<[string, NonNullable<Step["forEach"]>["items"], RunOptions]>([
    ["a path", path("inputs.list"), { inputs: { list: [1, 2] } }],
    ["a path to the text of a list", path("inputs.list"), { inputs: { list: " [1, 2] " } }],
    ["a template", template("[1, {{ state.inputs.list.n }}]"), { inputs: { list: { n: 2 } } }],
  ])("comes from %s", (_, items, options) => {
    const run = runOf(workflow([each(items)], { inputs: [{ name: "list" }] }), options);
    expect(allExecutions(run.state.executions).flatMap(({ input, item }) => (item === undefined ? [] : [parsed(input["it"])]))).toEqual([1, 2]);
  });

  it.each([
    ["an object", { a: 1 }],
    ["a text", "one, two"],
    ["the text of an object", "{}"],
    ["nothing", null],
    ["a number", 3],
    ["a text nested too deep", "[".repeat(300)],
  ])("can't be %s", (_, list) => {
    const run = runOf(workflow([each(path("inputs.list"))], { inputs: [{ name: "list" }] }), { inputs: { list } });
    expect(run.events.map(({ payload }) => payload.case)).toEqual(["runCreated", "runStarted", "stepStarted", "stepFailed", "runFailed"]);
    expect(run.last("stepFailed").value.error?.message).toBe('step "each": what for_each names is no list');
  });

  it("may lie in the artifact store, whole or in part", () => {
    for (const [where, text] of [
      ["steps.a", '["x","y"]'],
      ["steps.a.all.0", '{"all":[["x","y"]]}'],
    ] as const) {
      const run = runOf(workflow([functionStep("a"), each(path(where), { concurrency: 1 })]), { artifacts: { big: text } });
      run.must(returnedValue(run.key, artifact("big")));
      expect(parsed(run.open("each", 0).input["it"])).toBe("x");
      run.must(returned(run.keyOf("each", 0), 1));
      expect(parsed(run.open("each", 1).input["it"])).toBe("y");
    }
  });

  it("too long for one run is refused before any of it begins", () => {
    const items = Array.from({ length: 10_001 }, () => 0);
    const run = runOf(workflow([functionStep("a"), each(path("steps.a"))]), { artifacts: { big: JSON.stringify(items) } });
    run.must(returnedValue(run.key, artifact("big")));
    expect(run.last("runFailed").value.error?.message).toContain("its list has 10001 items, more than 10000");
  });

  it("stops within the executions that a run has, the others' items included", () => {
    const items = Array.from({ length: 10_000 }, (_, index) => index);
    const list = (id: string) => ({ ...each(literal(items)), id });
    const lists = ["a", "b", "c", "d", "e", "f"].map(list);
    const run = runOf(workflow([...lists, functionStep("g", { needs: ["a"] })], { onError: OnError.CONTINUE, parallelMax: 1 }));
    // Four lists have promised forty thousand executions, so that there is no room for the others.
    expect(
      allExecutions(run.state.executions)
        .filter(({ group }) => group !== undefined)
        .map(({ stepId }) => stepId),
    ).toEqual(["a", "b", "c", "d"]);
    for (const id of ["e", "f"]) expect(run.lastOf("stepFailed", id).error).toMatchObject({ reason: "CIRCULAR_EXECUTION" });
  });
});

describe("the names of an item", () => {
  it("are `item` and `item_index` where nothing is said, and its whole input where nothing is mapped", () => {
    const run = listOf([{ v: 5 }], { inputs: {} });
    const { input } = run.open("each", 0);
    expect(Object.fromEntries(Object.entries(input).map(([name, value]) => [name, parsed(value)]))).toEqual({ item: { v: 5 }, item_index: 0 });
  });

  it("are the author's, in paths and templates", () => {
    const inputs = { v: path("one.list.1"), at: path("one_index"), text: template("{{ one_index }}: {{ one.name.upper() }} {{ state.inputs.n }}") };
    const run = runOf(workflow([each(literal([{ list: [1, 2], name: "x" }]), { as: "one", inputs })], { inputs: [{ name: "n", defaultJson: "9" }] }));
    const { input } = run.open("each", 0);
    expect([parsed(input["v"]), parsed(input["at"]), parsed(input["text"])]).toEqual([2, 0, "0: X 9"]);
  });

  it("are in an agent's prompt", () => {
    const forEach = { items: literal(["x"]), as: "word" };
    const run = runOf(workflow([agentStep("each", { forEach, prompt: "{{ word_index }} {{ word }}" })]));
    expect(run.open("each", 0).prompt).toBe("0 x");
  });

  it("are not an input of a sub-run that maps none", () => {
    const inner = workflow([functionStep("x")], { id: "inner" });
    const run = runOf(workflow([subRunStep("each", inner, { forEach: { items: literal([1]) } })]));
    expect(run.open("each", 0).input).toEqual({});
  });

  it("that lead nowhere fail the item", () => {
    const run = listOf([{}], { inputs: { it: path("item.v") } });
    expect(run.last("runFailed").value.error).toMatchObject({
      message: 'step "each": input "it" reads item.v, but item has no "v"',
      metadata: { step_id: "each", item_index: "0" },
    });
  });
});

describe("the items that are under way", () => {
  it.each([
    [0, 0, 16],
    [2, 0, 2],
    [9, 3, 3],
    [2, 9, 2],
  ])("are no more than the list (%s) and the run (%s) allow", (concurrency, parallelMax, atOnce) => {
    const items = Array.from({ length: 20 }, (_, index) => index);
    const run = runOf(workflow([each(literal(items), { concurrency })], { parallelMax }));
    for (let done = 0; done < 20; done++) {
      expect(run.working).toHaveLength(Math.min(atOnce, 20 - done));
      run.must(returned(run.work()[0]?.key as string, done));
    }
    expect(run.status).toBe("COMPLETED");
  });

  it("share the run's limit with other steps", () => {
    const run = runOf(workflow([each(literal([1, 2, 3])), functionStep("a"), functionStep("b", { needs: ["a"] })], { parallelMax: 2 }));
    expect(run.working).toEqual(["a", "each.0"]);
  });
});

describe("an item that fails", () => {
  it("fails the step, and what else is under way of it is cancelled", () => {
    const run = runOf(workflow([each(literal([1, 2, 3, 4]), { concurrency: 3 }), functionStep("other"), functionStep("after", { needs: ["other"] })]));
    expect(run.must(taskFailed(run.keyOf("each", 1), "No.")).cases).toEqual(["stepFailed"]);
    expect(run.outstanding().map((task) => task.kind === "work" && task.cancelRequested)).toEqual([false, true, true]);
    run.must(taskCancelled(run.keyOf("each", 0)));
    // One may have succeeded after all; the next still does not begin.
    expect(run.must(returned(run.keyOf("each", 2), 3)).cases).toEqual(["stepCompleted", "stepFailed"]);
    expect(run.outstanding()).toMatchObject([{ key: run.keyOf("other"), cancelRequested: true }]);
    run.must(taskCancelled(run.keyOf("other")));
    expect(run.last("runFailed").value.error).toMatchObject({ message: 'step "each" failed: No.', metadata: { step_id: "each", item_index: "1" } });
    expect(run.state.outputBytes).toBe(0);
  });

  it("leaves null in its place where the list goes on, and the step has completed", () => {
    const run = listOf([1, 2, 3], { onItemError: OnError.CONTINUE });
    run.must(taskFailed(run.keyOf("each", 1)));
    finish(run, (index) => index);
    expect(parsed(run.last("runCompleted").value.output)).toEqual([0, null, 2]);
    expect(run.status).toBe("COMPLETED");
  });

  it("fails the step where all have failed, with the first error", () => {
    const run = listOf([1, 2], { onItemError: OnError.CONTINUE });
    run.must(taskFailed(run.keyOf("each", 1), "The first."));
    run.must(taskFailed(run.keyOf("each", 0), "The second."));
    expect(run.last("runFailed").value.error?.message).toBe('step "each" failed: all 2 items of its list failed, the first of them: The first.');
  });

  it("is tried again by itself", () => {
    const run = listOf([1, 2], { retry: { attempts: 2 } });
    const key = run.keyOf("each", 0);
    run.must(taskFailed(key));
    expect(run.keyOf("each", 0)).toBe("step:1:2");
    expect(run.keyOf("each", 1)).toBe("step:2:1");
    finish(run, (index) => index);
    expect(parsed(run.last("runCompleted").value.output)).toEqual([0, 1]);
  });

  it("repeats its own tool call", () => {
    const step = toolStep("each", SEARCH.name, { forEach: { items: literal(["x", "y"]) }, inputs: { q: path("item") }, retry: { attempts: 2 } });
    const run = runOf(workflow([step]), { tools: [SEARCH] });
    run.must(taskFailed(run.keyOf("each", 0)));
    run.must(taskFailed(run.keyOf("each", 1)));
    const calls = [0, 1].map((item) => run.open("each", item).call?.argumentsJson);
    expect(calls).toEqual(['{"q":"x"}', '{"q":"y"}']);
    expect(run.events.filter(({ payload }) => payload.case === "toolRequested")).toHaveLength(4);
    for (const item of [1, 0]) run.must(toolReturned(run.keyOf("each", item), item));
    expect(parsed(run.last("runCompleted").value.output)).toEqual([0, 1]);
  });

  it("of an agent waits for its next attempt by a timer of its own, in a session of its own", () => {
    const forEach = { items: literal(["x", "y"]) };
    const run = runOf(workflow([agentStep("each", { forEach, retry: { attempts: 2, initialDelay: { seconds: 5n } } })]));
    const [first, second] = [run.open("each", 0).sessionId, run.open("each", 1).sessionId];
    expect(first).not.toBe(second);
    run.must(turnReport(second, { status: TurnStatus.FAILED, outcome: TurnOutcome.TASK_FAILED }));
    expect(run.timers()).toEqual(["retry:2:2"]);
    run.must(fired("retry:2:2"));
    expect(run.lastOf("stepStarted", "each")).toMatchObject({ attempt: 2, executionIndex: 2, groupIndex: 0, itemIndex: 1 });
    expect([first, second]).not.toContain(run.open("each", 1).sessionId);
    expect(run.open("each", 1).item).toEqual({ groupIndex: 0, index: 1 });
  });

  it("fails by its contract", () => {
    const run = listOf([1, 2], { outputs: ["v"], onItemError: OnError.CONTINUE });
    run.must(returned(run.keyOf("each", 0), { w: 1 }));
    run.must(returned(run.keyOf("each", 1), { v: 1 }));
    expect(parsed(run.last("runCompleted").value.output)).toEqual([null, { v: 1 }]);
  });

  it("does so before any work begins where its input can't be built, for all of a long list", () => {
    const run = listOf(
      Array.from({ length: 300 }, () => ({})),
      { inputs: { it: path("item.v") }, onItemError: OnError.CONTINUE },
      { onError: OnError.CONTINUE },
    );
    expect(run.status).toBe("COMPLETED_WITH_ERRORS");
    expect(run.state.executionCount).toBe(301);
  });
});

describe("a list that is stopped", () => {
  it("ends with its last item, sub-runs included", () => {
    const inner = workflow([functionStep("x")], { id: "inner" });
    const run = runOf(workflow([subRunStep("each", inner, { forEach: { items: literal([1, 2]) } })]));
    const children = [0, 1].map((item) => run.open("each", item).childRunId);
    run.sent.length = 0;
    run.must(cancelRun());
    expect(run.sent.map(({ command }) => command.value)).toMatchObject(children.map((runId) => ({ runId })));
    for (const [index, runId] of children.entries()) {
      const { cases } = run.must(runReport(runId, { status: RunStatus.CANCELLED }));
      expect(cases).toEqual(index === 0 ? ["stepCancelled"] : ["stepCancelled", "stepCancelled", "runCancelled"]);
    }
  });

  it("ends at once where nothing of it is under way", () => {
    const step = toolStep("each", SEARCH.name, { forEach: { items: literal([1]) }, retry: { attempts: 2, initialDelay: { seconds: 60n } } });
    const run = runOf(workflow([step]), { tools: [SEARCH] });
    run.must(taskFailed(run.keyOf("each", 0)));
    expect(run.must(cancelRun()).cases.slice(-3)).toEqual(["stepCancelled", "stepCancelled", "runCancelled"]);
  });

  it("begins no further item of what has been asked to stop", () => {
    const run = listOf([1, 2, 3], { concurrency: 1 });
    run.must(cancelRun());
    expect(run.must(returned(run.keyOf("each", 0), 1)).cases).toEqual(["stepCompleted", "stepCancelled", "runCancelled"]);
  });
});

describe("the outputs of a list", () => {
  const big = "x".repeat(40_000);
  const reading = (inputs: Step["inputs"]) => functionStep("after", { inputs });

  it("may be larger together than one value, and are read item by item", () => {
    const run = listOf([1, 2, 3], {}, { more: [reading({ one: path("steps.each.1.v"), n: template("{{ len(state.steps.each) }}") })] });
    finish(run, (index) => ({ v: index, big }));
    expect(run.lastOf("stepCompleted", "each").output).toBeUndefined();
    expect([parsed(run.open("after").input["one"]), parsed(run.open("after").input["n"])]).toEqual([1, "3"]);
  });

  it("are refused whole where they are larger than one value", () => {
    const run = listOf([1, 2, 3], {}, { more: [reading({ all: path("steps.each") })] });
    finish(run, () => big);
    expect(run.last("runFailed").value.error?.message).toContain("a list that must be read item by item");
  });

  it("may be artifacts, of which one is looked into", () => {
    const run = listOf([1, 2], {}, { more: [reading({ one: path("steps.each.0.v") })], artifacts: { big: '{"v":8}', other: "{}" } });
    run.must(returnedValue(run.keyOf("each", 0), artifact("big")));
    run.must(returnedValue(run.keyOf("each", 1), artifact("other")));
    expect(run.state.artifactOutputCount).toBe(2);
    expect(parsed(run.open("after").input["one"])).toBe(8);
  });

  it("decide a branch", () => {
    const run = listOf(
      [1, 2],
      { next: [{ when: "len(state.steps.each) == 2 and state.steps.each[1] == 2", goto: "b" }], nextDefault: "end" },
      { more: [functionStep("a"), functionStep("b")] },
    );
    finish(run, (index) => index + 1);
    expect(run.working).toEqual(["b"]);
  });

  it("are not counted twice, nor kept where the step failed", () => {
    const run = listOf([1, 2], { nextDefault: "w" }, { more: [waitStep("w", { case: "signal", value: "go" })] });
    finish(run, () => "12345678");
    expect(run.state.outputBytes).toBe(20);
    const failing = listOf([1, 2], { concurrency: 1 }, { more: [functionStep("b")], onError: OnError.CONTINUE });
    failing.must(returned(failing.keyOf("each", 0), "12345678"));
    expect(failing.state.outputBytes).toBe(10);
    failing.must(taskFailed(failing.keyOf("each", 1)));
    expect(failing.state.outputBytes).toBe(0);
  });

  it("take their place again where the list is executed again", () => {
    const run = listOf([1, 2], { nextDefault: "each" });
    finish(run, () => "12345678");
    run.must(returned(run.keyOf("each", 0), "1"));
    expect(run.state.outputBytes).toBe(23);
    run.must(returned(run.keyOf("each", 1), "1"));
    expect(run.state.outputBytes).toBe(6);
  });
});

describe("an item's task", () => {
  it("is answered by its own key alone", () => {
    const run = listOf([1, 2], { notIdempotent: true });
    expect(run.execute(returned("step:0:1", 1)).rejection).toMatchObject({ reason: "TASK_NOT_OPEN" });
    expect(run.execute(returned(run.keyOf("each", 0), 1)).rejection).toMatchObject({ reason: "TASK_NOT_STARTED" });
    run.must(started(run.keyOf("each", 1)));
    expect(run.lastOf("stepAttemptStarted", "each")).toMatchObject({ executionIndex: 2 });
    expect(run.execute(returned(run.keyOf("each", 0), 1)).rejection).toMatchObject({ reason: "TASK_NOT_STARTED" });
    run.must(returned(run.keyOf("each", 1), 1));
  });
});
