import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { EventSchema } from "@forge/protocol/event";
import { ErrorRecovery } from "@forge/protocol/session";
import { Decision, ToolMode } from "@forge/protocol/tool";
import { OverwritePolicy } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { neededFormat } from "./content-format.ts";
import { EVENT_FORMATS } from "./event-formats.ts";

type Payload = NonNullable<Exclude<MessageInitShape<typeof EventSchema>, { $typeName: string }>["payload"]>;

const needed = (payload: Payload, formats = EVENT_FORMATS) => neededFormat(formats, create(EventSchema, { payload }).payload);
const session = (agent: object, more: object = {}): Payload => ({ case: "sessionCreated", value: { agent: { model: "a/b", ...agent }, ...more } });

describe("the format that an event needs", () => {
  it.each<[string, Payload]>([
    ["a hook", session({ hooks: [{ name: "a" }] })],
    ["a sub-agent", session({ subAgents: [{ name: "a" }] })],
    ["another model", session({ fallbackModels: ["a/c"] })],
    ["a schema", session({ outputSchemaJson: "{}" })],
    ["a recovery", session({ errorRecovery: ErrorRecovery.STOP })],
    ["a bound of steps", session({ budget: { steps: 1 } })],
    ["a caller", session({}, { parentCall: { depth: 1 } })],
    ["a mode", session({}, { policy: { mode: ToolMode.PLAN } })],
    ["a rule with a key", { case: "sessionPolicyUpdated", value: { policy: { rules: [{ tool: "a", decision: Decision.DENY, ruleKey: "k" }] } } }],
    ["a grant", { case: "approvalResolved", value: { grant: { approvalId: "a" } } }],
    ["a run that lets nothing be overwritten", { case: "runCreated", value: { overwritePolicy: OverwritePolicy.STRICT } }],
    ["a branch after a failure", { case: "stepFailed", value: { nextSource: "default", nextStepId: "a" } }],
    ["a newer kind", { case: "hookRequested", value: {} }],
  ])("is the one that brought %s", (_, payload) => {
    expect(needed(payload)).toBe(3);
  });

  it.each<[string, object]>([
    ["needs", { needs: ["b"] }],
    ["a condition", { when: "true" }],
    ["a list", { forEach: {} }],
    ["a wait", { kind: { case: "wait", value: {} } }],
    ["a workflow", { kind: { case: "workflow", value: {} } }],
  ])("is the second for a run whose steps have %s", (_, step) => {
    const created: Payload = {
      case: "runCreated",
      value: { definition: { steps: [{ id: "a" }, { id: "c", ...step }] }, overwritePolicy: OverwritePolicy.WARN },
    };
    expect(needed(created)).toBe(2);
    expect(needed(created, { reads: 1, kinds: new Map() })).toBe(1);
  });

  it("is that of its kind for all that versions before know", () => {
    expect(needed(session({ tools: ["tools.read"] }, { policy: { mode: ToolMode.ACT, rules: [{ tool: "a", decision: Decision.DENY }] } }))).toBe(1);
    expect(
      needed({
        case: "runCreated",
        value: { definition: { steps: [{ id: "a", next: [{ when: "true", goto: "a" }] }] }, overwritePolicy: OverwritePolicy.WARN },
      }),
    ).toBe(1);
    expect(needed({ case: "stepFailed", value: { nextSource: "sequence", nextStepId: "a" } })).toBe(1);
    expect(needed({ case: "runForked", value: {} })).toBe(2);
    expect(needed(session({ hooks: [{ name: "a" }] }), { reads: 2, kinds: new Map() })).toBe(1);
  });
});
