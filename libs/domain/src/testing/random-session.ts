import { create } from "@bufbuild/protobuf";
import type { FinishReason } from "@forge/protocol/event";
import { Decision, RiskLevel, ToolSpecSchema } from "@forge/protocol/tool";
import fc from "fast-check";
import type { SessionCommand } from "../session/session-command.ts";
import type { WorkTask } from "../task.ts";
import {
  abandonTurn,
  answer,
  callPart,
  cancelled,
  cancelTurn,
  closeSession,
  compactSession,
  continueTurn,
  failure,
  fired,
  lost,
  pauseTurn,
  pendingInputs,
  provideInput,
  reportedLate,
  resolve,
  type SessionInit,
  type SessionStream,
  settled,
  started,
  startTurn,
  steerTurn,
  TOOLS,
  textPart,
  toolResult,
  updatePolicy,
} from "./session-fixture.ts";

/** What may happen to a session next. Numbers choose among what there is at that moment, modulo its count. */
export type Happening =
  | { readonly kind: "startTurn"; readonly text: string }
  | { readonly kind: "begin" | "lose" | "stop" | "late"; readonly pick: number }
  | { readonly kind: "fail"; readonly pick: number; readonly retryable: boolean; readonly unknown: boolean; readonly text: string }
  | {
      readonly kind: "finish";
      readonly pick: number;
      readonly text: string;
      readonly calls: readonly { readonly tool: number; readonly args: string }[];
      readonly reason: number;
    }
  | { readonly kind: "fire"; readonly pick: number }
  | { readonly kind: "resolve"; readonly pick: number; readonly allow: boolean }
  | { readonly kind: "cancel" | "abandon" | "close" | "stale" | "pause" | "continue" }
  | { readonly kind: "steer" | "input"; readonly pick: number; readonly text: string }
  | { readonly kind: "policy"; readonly decision: Decision }
  | { readonly kind: "compact"; readonly pick: number }
  | { readonly kind: "deltas"; readonly count: number };

/** Any UTF-16 text: control characters and halves of surrogate pairs included. */
const hostileText = fc.oneof(
  fc.constantFrom("", "Hello.", "__proto__", "\u0000", "\ud800", '{"a":1}', "{"),
  fc.array(fc.nat(0xffff), { maxLength: 12 }).map((units) => String.fromCharCode(...units)),
);

const saidText = fc.oneof({ weight: 5, arbitrary: fc.constant("Go on.") }, { weight: 1, arbitrary: hostileText });

const pick = fc.nat(1_000);

/** Mostly what moves a turn on, so that stories get far; among it everything that goes wrong. */
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("startTurn" as const), text: saidText }),
  },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("begin" as const), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom("lose" as const, "stop" as const, "late" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const), pick, retryable: fc.boolean(), unknown: fc.boolean(), text: hostileText }) },
  {
    weight: 20,
    arbitrary: fc.record({
      kind: fc.constant("finish" as const),
      pick,
      text: hostileText,
      calls: fc.array(
        fc.record({ tool: fc.nat(6), args: fc.oneof({ weight: 8, arbitrary: fc.constant('{"question":"Which?"}') }, { weight: 1, arbitrary: hostileText }) }),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
      reason: fc.constantFrom(1, 1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 4, 5, 6, 99),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fire" as const), pick }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("resolve" as const), pick, allow: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom("cancel" as const, "cancel" as const, "abandon" as const, "close" as const, "stale" as const, "stale" as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("steer" as const, "input" as const, "input" as const), pick, text: saidText }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom("pause" as const, "continue" as const, "continue" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("policy" as const), decision: fc.constantFrom(Decision.ALLOW, Decision.ASK, Decision.DENY) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("compact" as const), pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("deltas" as const), count: fc.nat(5) }) },
);

export const happenings = fc.array(happening, { minLength: 10, maxLength: 80, size: "max" });

/** Sessions of all sorts: with a parent, with tight budgets, with every policy. */
export const sessionInit: fc.Arbitrary<SessionInit> = fc.record(
  {
    policy: fc.constantFrom<NonNullable<SessionInit["policy"]>[]>(
      {},
      { defaultDecision: Decision.ALLOW },
      { defaultDecision: Decision.ASK },
      { rules: [{ tool: "tools.w*", decision: Decision.DENY }], defaultDecision: Decision.ALLOW },
    ),
    parent: fc.constant({ runId: "00000000-0000-8000-8000-000000000123", stepId: "s" }),
    agent: fc.constantFrom<NonNullable<SessionInit["agent"]>[]>(
      { model: "demo/a", tools: [...TOOLS.map(({ name }) => name), "tools.ask"] },
      { model: "demo/a", tools: [...TOOLS.map(({ name }) => name), "tools.nobody"], budget: { modelCalls: 3, toolCalls: 4, tokens: 100n } },
    ),
  },
  { requiredKeys: ["policy", "agent"] },
);

/** Tools that are served: one of each sort, and one more that the agents may not use. */
export const served = [...TOOLS, create(ToolSpecSchema, { name: "tools.other", risk: RiskLevel.READ })];
const CALLED = [...served.map(({ name }) => name), "tools.nobody", "tools.ask"];

/** The command that a happening amounts to now; undefined where there is nothing that it could happen to. */
export function commandOf(stream: SessionStream, what: Happening, seen: readonly string[]): SessionCommand | undefined {
  const work = stream.work();
  const task = "pick" in what ? work[what.pick % Math.max(1, work.length)] : undefined;
  const turnId = stream.state.turn?.turnId ?? "none";
  switch (what.kind) {
    case "startTurn":
      return startTurn(what.text);
    case "begin":
      return task && started(task);
    case "lose":
      return task && lost(task);
    case "stop":
      return task && settled(task, cancelled());
    case "late":
      return reportedLate(seen[what.pick % Math.max(1, seen.length)] ?? "tool:none");
    case "fail":
      return task && settled(task, failure({ retryable: what.retryable, unknown: what.unknown, message: what.text }));
    case "finish":
      return task && settled(task, resultOf(task, what));
    case "fire": {
      const timers = stream.timers();
      return timers.length === 0 ? undefined : fired(timers[what.pick % timers.length] ?? "");
    }
    case "resolve": {
      const turn = stream.state.turn;
      const ids = [
        ...(turn?.toolCalls ?? []).flatMap((call) => call.approval?.approvalId ?? []),
        ...(turn?.resolutions ?? []).map(({ approvalId }) => approvalId),
      ];
      return resolve(ids[what.pick % Math.max(1, ids.length)] ?? "none", what.allow ? Decision.ALLOW : Decision.DENY);
    }
    case "cancel":
      return cancelTurn(turnId);
    case "abandon":
      return abandonTurn(turnId);
    case "close":
      return closeSession();
    case "stale": {
      const open = new Set(stream.outstanding().map(({ key }) => key));
      const gone = seen.findLast((key) => !open.has(key));
      return gone === undefined ? undefined : settled({ key: gone }, toolResult());
    }
    case "pause":
      return pauseTurn(turnId);
    case "continue":
      return continueTurn(turnId);
    case "steer":
      return steerTurn(turnId, what.text);
    case "input": {
      const ids = [...pendingInputs(stream), ...(stream.state.turn?.inputs ?? []).map(({ inputId }) => inputId)];
      return provideInput(turnId, ids[what.pick % Math.max(1, ids.length)] ?? "none", what.text);
    }
    case "policy":
      return updatePolicy({ defaultDecision: what.decision });
    case "compact":
      return compactSession("They spoke.", what.pick % 3 === 0 ? 0 : what.pick % (stream.seq + 2));
    case "deltas":
      return undefined;
    default:
      return what satisfies never;
  }
}

function resultOf(task: WorkTask, what: Extract<Happening, { kind: "finish" }>) {
  if (task.task.kind.case === "tool") return toolResult(what.text === "" ? "null" : JSON.stringify(what.text));
  // An answer that says that it is whole has no calls, so that turns end as well.
  const calls = (what.reason === 1 ? [] : what.calls).map((call) => callPart(CALLED[call.tool % CALLED.length] ?? "", call.args, "same"));
  return answer([textPart(what.text), ...calls], what.reason as FinishReason, 7n);
}
