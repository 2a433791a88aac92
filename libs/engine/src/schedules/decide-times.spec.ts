import { OverlapPolicy } from "@forge/protocol/workflow";
import { describe, expect, it } from "vitest";
import { decideTimes } from "./decide-times.ts";

const { SKIP, BUFFER_ONE, ALLOW_ALL, CANCEL_OTHER } = OverlapPolicy;

/** Outcomes in order as "time outcome", then what waits, and whether the last run is cancelled. */
function decide(overlap: OverlapPolicy, dueMs: readonly number[], isActive: boolean, bufferedMs?: number): string {
  const { times, bufferedMs: waits, cancels } = decideTimes({ overlap, dueMs, isActive, bufferedMs });
  const shown = times.map((time) => `${time.atMs} ${time.outcome === "SKIPPED" ? time.reason : time.outcome}`);
  return [...shown, ...(waits === undefined ? [] : [`waits ${waits}`]), ...(cancels ? ["cancels"] : [])].join(", ");
}

describe("what becomes of times", () => {
  it.each([SKIP, BUFFER_ONE, ALLOW_ALL, CANCEL_OTHER])("one starts where no run is active (policy %i)", (overlap) => {
    expect(decide(overlap, [1], false)).toBe("1 STARTING");
    expect(decide(overlap, [], false)).toBe("");
  });

  it("while a run is active, as the policy says", () => {
    expect(decide(SKIP, [1, 2], true)).toBe("1 RUN_ACTIVE, 2 RUN_ACTIVE");
    expect(decide(BUFFER_ONE, [1, 2], true)).toBe("1 BUFFERED, 2 RUN_ACTIVE, waits 1");
    expect(decide(ALLOW_ALL, [1, 2], true)).toBe("1 STARTING, 2 STARTING");
    expect(decide(CANCEL_OTHER, [1], true)).toBe("1 BUFFERED, waits 1, cancels");
  });

  it("several at once: what starts first counts for the others", () => {
    expect(decide(SKIP, [1, 2, 3], false)).toBe("1 STARTING, 2 RUN_ACTIVE, 3 RUN_ACTIVE");
    expect(decide(BUFFER_ONE, [1, 2, 3], false)).toBe("1 STARTING, 2 BUFFERED, 3 RUN_ACTIVE, waits 2");
    expect(decide(CANCEL_OTHER, [1, 2, 3], false)).toBe("1 LATER_TIME, 2 LATER_TIME, 3 STARTING");
    expect(decide(CANCEL_OTHER, [1, 2], true)).toBe("1 LATER_TIME, 2 BUFFERED, waits 2, cancels");
  });

  it("one that waits starts once the run before has ended, and counts for what is due then", () => {
    expect(decide(BUFFER_ONE, [], true, 1)).toBe("waits 1");
    expect(decide(BUFFER_ONE, [], false, 1)).toBe("1 STARTING");
    expect(decide(BUFFER_ONE, [2, 3], false, 1)).toBe("1 STARTING, 2 BUFFERED, 3 RUN_ACTIVE, waits 2");
    expect(decide(BUFFER_ONE, [2], true, 1)).toBe("2 RUN_ACTIVE, waits 1");
  });

  it("one that waits to replace another gives way to a later one, and the other is cancelled until it has ended", () => {
    expect(decide(CANCEL_OTHER, [], true, 1)).toBe("waits 1, cancels");
    expect(decide(CANCEL_OTHER, [2], true, 1)).toBe("1 LATER_TIME, 2 BUFFERED, waits 2, cancels");
    expect(decide(CANCEL_OTHER, [2], false, 1)).toBe("1 LATER_TIME, 2 STARTING");
  });

  it("one that waits under a policy that was changed since still starts, and only once", () => {
    expect(decide(SKIP, [2], true, 1)).toBe("2 RUN_ACTIVE, waits 1");
    expect(decide(SKIP, [2], false, 1)).toBe("1 STARTING, 2 RUN_ACTIVE");
    expect(decide(ALLOW_ALL, [2], true, 1)).toBe("1 STARTING, 2 STARTING");
  });
});
