import { create } from "@bufbuild/protobuf";
import { GrantConcurrencySchema, RejectCommandSchema, StartChildRunSchema } from "@forge/protocol/engine";
import { InputDeclarationSchema } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { concurrencyStreamId } from "../concurrency/key.ts";
import type { RunCommand } from "./run-command.ts";
import { cancelRun, functionStep, json, path, RUN_ID, RunStream, resumeRun, runOf, startRun, subRunStep, taskFailed, workflow } from "./testing/run-fixture.ts";

const KEYED = workflow([functionStep("a")], { inputs: [{ name: "customer" }], concurrency: { key: "customer-{{ inputs.customer }}", limit: 2 }, priority: 3 });
const CUSTOMER = { inputs: [create(InputDeclarationSchema, { name: "customer" })] };
const granted = (key = "customer-7"): RunCommand => create(GrantConcurrencySchema, { key });
const queuedRun = () => runOf(KEYED, { inputs: { customer: 7 } });
const sent = (run: RunStream) => run.sent.map(({ command }) => command.case);

describe("a run with a concurrency key", () => {
  it("asks for it, and begins once it has it", () => {
    const run = queuedRun();
    expect(run.status).toBe("QUEUED");
    expect(run.outstanding()).toEqual([]);
    expect(run.sent).toMatchObject([
      {
        target: { kind: 3, id: concurrencyStreamId(run.context(), "customer-7") },
        command: { case: "acquireConcurrency", value: { key: "customer-7", limit: 2, runId: RUN_ID, priority: 3 } },
      },
    ]);
    expect(run.must(granted()).cases).toEqual(["runStarted", "stepStarted"]);
    expect(run.status).toBe("RUNNING");
    expect(run.task).toMatchObject({ priority: 3 });
    run.return(1);
    expect(sent(run)).toEqual(["acquireConcurrency", "releaseConcurrency"]);
  });

  it("lets it go when it is cancelled while it waits, and refuses it afterwards", () => {
    const run = queuedRun();
    expect(run.must(cancelRun()).cases).toEqual(["runCancelRequested", "runCancelled"]);
    expect(sent(run)).toEqual(["acquireConcurrency", "releaseConcurrency"]);
    expect(run.execute(granted()).rejection?.reason).toBe("RUN_NOT_QUEUED");
  });

  it("lets it go when it fails, and waits for it anew when it is resumed", () => {
    const run = queuedRun();
    run.must(granted());
    run.must(taskFailed(run.key));
    expect(run.must(resumeRun()).cases).toEqual(["runResumed", "runQueued"]);
    expect(run.status).toBe("QUEUED");
    expect(new Set(run.sent.map(({ commandId }) => commandId)).size).toBe(3);
    expect(run.must(granted()).cases).toEqual(["runStarted", "stepStarted"]);
    run.return(1);
    expect(sent(run)).toEqual(["acquireConcurrency", "releaseConcurrency", "acquireConcurrency", "releaseConcurrency"]);
  });

  it("has its deadline counted from when it got the key", () => {
    const run = runOf({ ...KEYED, deadline: { $typeName: "google.protobuf.Duration", seconds: 10n, nanos: 0 } }, { inputs: { customer: 7 } });
    expect(run.timers()).toEqual([]);
    run.nowMs += 60_000;
    run.must(granted());
    expect(run.outstanding()).toContainEqual(expect.objectContaining({ kind: "timer", dueAtMs: run.nowMs + 10_000 }));
  });

  it("fails where it can't even wait", () => {
    const run = queuedRun();
    const commandId = run.sent[0]?.commandId ?? "";
    run.must(create(RejectCommandSchema, { commandId, error: { reason: "CONCURRENCY_QUEUE_FULL", message: "full" } }));
    expect(run.status).toBe("FAILED");
    expect(run.last("runFailed").value.error?.reason).toBe("CONCURRENCY_QUEUE_FULL");
  });

  it("is given one by its caller in place of its definition's, which is no template", () => {
    const run = new RunStream();
    run.must(startRun(KEYED, { inputs: json({ customer: 7 }), concurrencyKey: "{{ mine }}", priority: 9 }));
    expect(run.sent[0]?.command.value).toMatchObject({ key: "{{ mine }}", limit: 1, priority: 9 });
  });

  it("does not wait for a key that a run above it holds", () => {
    const outer = workflow([subRunStep("sub", KEYED, { inputs: { customer: path("inputs.customer") } })], {
      inputs: [{ name: "customer" }],
      concurrency: { key: "customer-{{ inputs.customer }}", limit: 1 },
    });
    const run = runOf(outer, { inputs: { customer: 7 } });
    run.must(granted());
    const start = run.sent.find(({ command }) => command.case === "startChildRun")?.command;
    expect(start?.value).toMatchObject({ heldConcurrencyKeys: ["customer-7"] });
    const child = new RunStream();
    child.must(create(StartChildRunSchema, start?.value as never));
    expect(child.status).toBe("RUNNING");
    expect(sent(child)).toEqual([]);
  });

  it.each<[string, Parameters<typeof startRun>[1], Parameters<typeof workflow>[1]]>([
    ["definition.concurrency.key", {}, { concurrency: { key: "{{ steps.a }}" } }],
    ["definition.concurrency.key", {}, { concurrency: { key: "{{ inputs.custmer }}" } }],
    ["definition.concurrency.key", {}, { concurrency: { key: " " } }],
    ["definition.concurrency.key", {}, { concurrency: { key: "{{ inputs.customer" } }],
    ["definition.concurrency.limit", {}, { concurrency: { key: "k", limit: 1_001 } }],
    ["definition.priority", {}, { priority: 10 }],
    ["priority", { priority: 10 }, {}],
    ["concurrency_key", { concurrencyKey: "x".repeat(257) }, {}],
    ["concurrency_limit", { concurrencyLimit: 2 }, {}],
    // Rendered from what it was given.
    ["definition.concurrency.key", { inputs: json({ customer: "" }) }, { concurrency: { key: "{{ inputs.customer }}" } }],
    ["definition.concurrency.key", { inputs: json({ customer: "x".repeat(300) }) }, { concurrency: { key: "{{ inputs.customer }}" } }],
  ])("is refused where %s is wrong: %j %j", (field, request, definition) => {
    const run = new RunStream();
    const refused = run.execute(startRun(workflow([functionStep("a")], { ...CUSTOMER, ...definition }), request));
    expect(refused.rejection?.metadata["field"]).toBe(field);
  });
});
