import { durationMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { CircuitBreaker, type CircuitChange, type CircuitOutcome, circuitOutcome } from "./circuit-breaker.ts";

function breaker() {
  let nowMs = 0;
  const changes: CircuitChange[] = [];
  const circuit = new CircuitBreaker({ provider: "p", nowMs: () => nowMs, onChange: (change) => changes.push(change) });
  const call = (outcome: CircuitOutcome, times = 1) => {
    for (let time = 0; time < times; time++) circuit.enter().end(outcome);
  };
  const refusal = (): ForgeError => {
    try {
      circuit.enter();
    } catch (error) {
      if (error instanceof ForgeError) return error;
    }
    throw new Error("The call was let pass.");
  };
  return { circuit, changes, call, refusal, wait: (ms: number) => (nowMs += ms), states: () => changes.map(({ state }) => state) };
}

describe("a circuit breaker", () => {
  it("opens after five failures in a row, and then fails calls at once, saying when to come back", () => {
    const { call, refusal, states, changes } = breaker();
    call("failed", 4);
    call("answered");
    call("failed", 4);
    expect(states()).toEqual([]);
    call("failed");
    expect(states()).toEqual(["open"]);
    expect(changes[0]?.message).toBe("The circuit of model provider p is open: 5 calls in a row failed; calls fail at once for 15 s.");
    const error = refusal();
    expect(error).toMatchObject({ code: ErrorCode.RESOURCE_EXHAUSTED, reason: "CIRCUIT_OPEN", detail: { retryable: true } });
    expect(error.detail.retryAfter && durationMs(error.detail.retryAfter)).toBe(15_000);
  });

  it("takes failures that lie far apart for no outage", () => {
    const { call, wait, states } = breaker();
    for (let time = 0; time < 20; time++) {
      call("failed");
      wait(60_001);
    }
    expect(states()).toEqual([]);
  });

  it("lets one call try after the pause, and closes when it is answered", () => {
    const { circuit, call, wait, refusal, states } = breaker();
    call("failed", 5);
    wait(15_000);
    const probe = circuit.enter();
    expect(refusal().reason).toBe("CIRCUIT_OPEN");
    probe.end("answered");
    call("answered");
    expect(states()).toEqual(["open", "half_open", "closed"]);
  });

  it("pauses twice as long after each probe that fails, up to two minutes", () => {
    const { circuit, call, wait, refusal } = breaker();
    call("failed", 5);
    const pauses = [15, 30, 60, 120, 120].map((seconds) => {
      const { retryAfter } = refusal().detail;
      wait(seconds * 1000);
      circuit.enter().end("failed");
      return retryAfter && durationMs(retryAfter) / 1000;
    });
    expect(pauses).toEqual([15, 30, 60, 120, 120]);
  });

  it("lets the next call try where a probe told nothing, or never came back", () => {
    const { circuit, call, wait } = breaker();
    call("failed", 5);
    wait(15_000);
    circuit.enter().end("unknown");
    const lost = circuit.enter();
    wait(120_000);
    circuit.enter().end("answered");
    expect(circuit.state).toBe("closed");
    lost.end("failed");
    expect(circuit.state).toBe("closed");
  });

  it("is closed by a call from before that was answered after all, and not paused longer by one that was not", () => {
    const { circuit, call, refusal } = breaker();
    const [late, later] = [circuit.enter(), circuit.enter()];
    call("failed", 5);
    late.end("failed");
    const { retryAfter } = refusal().detail;
    expect(retryAfter && durationMs(retryAfter)).toBe(15_000);
    later.end("answered");
    expect(circuit.state).toBe("closed");
  });

  it.each([
    ["CONNECTION", "", "failed"],
    ["STREAM_STALLED", "", "failed"],
    ["PROVIDER_UNAVAILABLE", "500", "failed"],
    ["PROVIDER_UNAVAILABLE", "529", "failed"],
    ["PROVIDER_UNAVAILABLE", "408", "answered"],
    ["RATE_LIMITED", "429", "answered"],
    ["PROVIDER_UNAUTHENTICATED", "401", "answered"],
    ["CONTEXT_OVERFLOW", "400", "answered"],
  ])("takes %s (HTTP %s) as %s", (reason, status, outcome) => {
    expect(circuitOutcome(new ForgeError(ErrorCode.PROVIDER_ERROR, "m", { reason, metadata: { http_status: status } }))).toBe(outcome);
  });
});
