import { OnError } from "@forge/protocol/workflow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { itemAt } from "./chunks.ts";
import type { Execution } from "./execution.ts";
import { allExecutions, askedIn, executionAwaiting, executionIn, listsIn, NO_EXECUTIONS, withEach, withExecution, withoutExecution } from "./executions.ts";
import { answer, fired, functionStep, returned, runOf, signalRun, waitStep, workflow } from "./testing/run-fixture.ts";

const NOTHING = { sessionId: "", childRunId: "", call: undefined, wait: undefined, group: undefined, stopSeq: 0 };
const execution = (executionIndex: number, more: object = {}) => ({ ...NOTHING, ...more, executionIndex }) as Execution;
const waiting = (signal: string) => ({ wait: { untilMs: 0, signal, approvalId: "", question: "" } });

/** What happens to some of the executions of a run, by their indexes. */
const change = fc.oneof(
  fc.record({ kind: fc.constant("put" as const), index: fc.nat(400), shape: fc.constantFrom({}, waiting("a"), waiting("b"), { group: {} }, { stopSeq: 7 }) }),
  fc.record({ kind: fc.constant("drop" as const), index: fc.nat(400) }),
  fc.record({ kind: fc.constant("ask" as const), below: fc.nat(400) }),
);

describe("the open executions of a run", () => {
  it("are what a plain list of them would be, whatever happens to them", () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 300 }), (changes) => {
        let executions = NO_EXECUTIONS;
        let plain: Execution[] = [];
        for (const each of changes) {
          if (each.kind === "ask") {
            const ask = (one: Execution): Execution => (one.executionIndex < each.below && one.stopSeq === 0 ? { ...one, stopSeq: 9 } : one);
            executions = withEach(executions, ask);
            plain = plain.map(ask);
            continue;
          }
          plain = plain.filter(({ executionIndex }) => executionIndex !== each.index);
          if (each.kind === "put") plain.push(execution(each.index, each.shape));
          plain.sort((a, b) => a.executionIndex - b.executionIndex);
          executions = each.kind === "put" ? withExecution(executions, execution(each.index, each.shape)) : withoutExecution(executions, each.index);
        }
        expect(allExecutions(executions)).toEqual(plain);
        expect(executions).toMatchObject({
          length: plain.length,
          lists: plain.filter(({ group }) => group !== undefined).length,
          busy: plain.filter(({ group, wait }) => group === undefined && wait === undefined).length,
          asked: plain.filter(({ stopSeq }) => stopSeq > 0).length,
        });
        expect(listsIn(executions)).toEqual(plain.filter(({ group }) => group !== undefined));
        expect(askedIn(executions)).toEqual(plain.filter(({ stopSeq }) => stopSeq > 0));
        for (const signal of ["a", "b", ""]) {
          expect(executionAwaiting(executions, "signal", signal)).toEqual(
            (signal && plain.find(({ wait, stopSeq }) => wait?.signal === signal && stopSeq === 0)) || undefined,
          );
        }
        for (let index = 0; index <= 400; index += 13) expect(executionIn(executions, index)).toEqual(plain.find((one) => one.executionIndex === index));
      }),
      { numRuns: 200 },
    );
  });

  it("stay the same objects where nothing has changed, which is what makes an event of a run with thousands of them cheap", () => {
    const waits = Array.from({ length: 1_000 }, (_, index) =>
      waitStep(`w${index}`, { case: "signal", value: `s${index}` }, { timeout: { seconds: 60n }, needs: [] }),
    );
    const run = runOf(workflow([...waits, functionStep("a"), functionStep("b", { needs: ["a"] })], { onError: OnError.CONTINUE }));
    const kept = (happens: () => unknown): number => {
      const before = run.decider.outstanding(run.state);
      happens();
      const after = run.decider.outstanding(run.state);
      return after.length - after.filter((part) => before.includes(part)).length;
    };
    expect(run.decider.outstanding(run.state).length).toBeGreaterThan(10);
    expect(kept(() => run.must(returned(run.keyOf("a"), 1)))).toBe(1);
    expect(kept(() => run.must(signalRun("s500", 1)))).toBe(1);
    expect(kept(() => run.must(fired("wait:700")))).toBe(1);
    expect(itemAt(run.state.steps, 500)?.outcome).toBe("completed");
    expect(run.state.executions.length).toBe(1_000 - 2 + 1);
  });

  it("are asked for approvals by the same list for as long as none comes or goes", () => {
    const waits = Array.from({ length: 200 }, (_, index) => waitStep(`w${index}`, { case: "approval", value: { question: "?" } }, { needs: [] }));
    const run = runOf(workflow([...waits, functionStep("a"), functionStep("b", { needs: ["a"] }), functionStep("c", { needs: ["b"] })]));
    const approvals = () => run.decider.listing(run.state).approvals;
    run.must(returned(run.keyOf("a"), 1));
    const before = approvals();
    run.must(returned(run.keyOf("b"), 1));
    expect(approvals()).toBe(before);
    run.must(answer(run.open("w150").wait?.approvalId ?? ""));
    expect(approvals()).toEqual(before.toSpliced(150, 1));
  });
});
