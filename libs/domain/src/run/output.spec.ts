import { describe, expect, it } from "vitest";
import { agentStep, artifact, functionStep, json, literal, returned, returnedValue, runOf, turnReport, workflow } from "./testing/run-fixture.ts";

const SCHEMA = JSON.stringify({
  type: "object",
  required: ["items"],
  properties: { items: { type: "array", items: { type: "object", properties: { price: { type: "number", minimum: 0 } }, required: ["price"] } } },
});
const messageOf = (run: ReturnType<typeof runOf>) => run.last("stepFailed").value.error?.message;

describe("the schema of a step's output", () => {
  const run = () => runOf(workflow([functionStep("a", { outputSchemaJson: SCHEMA })]));

  it("lets through what satisfies it", () => {
    const fit = run();
    fit.return({ items: [{ price: 1 }], more: true });
    expect(fit.status).toBe("COMPLETED");
  });

  it.each<[unknown, string]>([
    [{ items: [{ price: 1 }, { price: "2" }] }, "items.1.price must be number"],
    [{ items: [{}] }, "items.0.price must have required property 'price'"],
    [{}, "items must have required property 'items'"],
    [null, "must be object"],
  ])("fails the step with the path where %j does not", (output, problem) => {
    const unfit = run();
    unfit.return(output);
    expect(messageOf(unfit)).toBe(`step "a": the output does not satisfy the step's schema: ${problem}`);
  });

  it("holds for outputs in the artifact store", () => {
    const artifacts = { good: '{"items":[{"price":1}]}', bad: '{"items":[{"price":-1}]}' };
    const definition = workflow([functionStep("a", { outputSchemaJson: SCHEMA })]);
    const good = runOf(definition, { artifacts });
    good.must(returnedValue(good.key, artifact("good")));
    expect(good.status).toBe("COMPLETED");
    const bad = runOf(definition, { artifacts });
    bad.must(returnedValue(bad.key, artifact("bad")));
    expect(messageOf(bad)).toContain("items.0.price must be >= 0");
    const missing = runOf(definition);
    missing.must(returnedValue(missing.key, artifact("none")));
    expect(messageOf(missing)).toContain("does not exist");
  });

  it("makes an agent's answer JSON, which is tried again where it is none", () => {
    const agent = runOf(workflow([agentStep("a", { outputSchemaJson: SCHEMA, retry: { attempts: 3 } })]));
    agent.must(turnReport(agent.sessionId, { text: json("Here it is.") }));
    expect(agent.last("stepAttemptFailed").value.error?.message).toContain("the step has an output schema, so it must be JSON");
    agent.must(turnReport(agent.sessionId, { text: json('```json\n{"items": 1}\n```') }));
    expect(agent.last("stepAttemptFailed").value.error?.message).toContain("items must be array");
    agent.must(turnReport(agent.sessionId, { text: json('```json\n{"items": []}\n```') }));
    expect(agent.last("stepCompleted").value.output).toMatchObject(json({ items: [] }));
  });

  it("is checked beside the declared keys", () => {
    const both = runOf(workflow([functionStep("a", { outputs: ["items"], outputSchemaJson: SCHEMA })]));
    both.return({ items: [], more: 1 });
    expect(messageOf(both)).toContain('undeclared "more"');
  });

  it("is each item's", () => {
    const each = functionStep("each", { forEach: { items: literal([1, 2]), onError: 2 }, outputSchemaJson: '{"type":"number"}' });
    const list = runOf(workflow([each]));
    list.must(returned(list.keyOf("each", 0), "x"));
    list.must(returned(list.keyOf("each", 1), 2));
    expect(list.last("runCompleted").value.output).toMatchObject(json([null, 2]));
  });

  it("can't take the control plane's time", () => {
    const schema = {
      $defs: {
        a: { allOf: Array.from({ length: 60 }, () => ({ $ref: "#/$defs/b" })) },
        b: { allOf: Array.from({ length: 60 }, () => ({ $ref: "#/$defs/c" })) },
        c: { items: { allOf: Array.from({ length: 60 }, () => ({ type: "number" })) } },
      },
      $ref: "#/$defs/a",
    };
    const slow = runOf(workflow([functionStep("a", { outputSchemaJson: JSON.stringify(schema) })]));
    slow.return(Array.from({ length: 5_000 }, () => 1));
    expect(messageOf(slow)).toContain("it takes too much work to be checked");
  });
});
