import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** Failures in a row before a provider is left alone: more than one call's own attempts, so that one call never does it. */
const FAILURES_MAX = 5;

/** Failures further apart than this are not of one outage. */
const WINDOW_MS = 60_000;

/** The first pause; each probe that fails doubles it. */
const PAUSE_MS = 15_000;
const PAUSE_MS_MAX = 120_000;

/** A probe that never comes back must not keep the others waiting for ever. */
const PROBE_MS_MAX = 120_000;

export type CircuitState = "closed" | "open" | "half_open";

/** A change of a provider's circuit, for a log. */
export interface CircuitChange {
  readonly provider: string;
  readonly state: CircuitState;
  /** In words. */
  readonly message: string;
}

export interface CircuitBreakerOptions {
  readonly provider: string;
  /** A monotonic clock, in milliseconds. */
  nowMs(): number;
  onChange?(change: CircuitChange): void;
}

/** How a call ended, for its provider's circuit. `unknown`: it told nothing of the provider. */
export type CircuitOutcome = "answered" | "failed" | "unknown";

/** A call that was let pass. */
export interface CircuitPass {
  /** Once. */
  end(outcome: CircuitOutcome): void;
}

/**
 * What a failure tells of the provider: out of order is one that can't be reached, says nothing or answers with 5xx. What it refuses, and what it limits, it
 * answers.
 */
export function circuitOutcome(error: ForgeError): CircuitOutcome {
  const isOutage =
    error.reason === "CONNECTION" ||
    error.reason === "STREAM_STALLED" ||
    (error.reason === "PROVIDER_UNAVAILABLE" && Number(error.detail.metadata.http_status) >= 500);
  return isOutage ? "failed" : "answered";
}

/**
 * Spares a provider that is out of order, and those who wait for it: after 5 failures in a row, each within a minute of the one before, calls fail at once for
 * 15 s, later for up to two minutes; then one call at a time tries whether it is back. One for all models of a provider.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #state: CircuitState = "closed";
  #failures = 0;
  #lastFailureMs = Number.NEGATIVE_INFINITY;
  #pauseMs = PAUSE_MS;
  #untilMs = 0;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  get state(): CircuitState {
    return this.#state;
  }

  /** Lets a call pass, or throws resource_exhausted, CIRCUIT_OPEN, with the time after which to come back. */
  enter(): CircuitPass {
    if (this.#state === "closed") return { end: (outcome) => this.#endCall(outcome) };
    const leftMs = this.#untilMs - this.#options.nowMs();
    if (leftMs > 0) throw this.#refusal(leftMs);
    this.#untilMs = this.#options.nowMs() + PROBE_MS_MAX;
    this.#change("half_open", "one call tries whether it is back");
    return { end: (outcome) => this.#endProbe(outcome) };
  }

  #endCall(outcome: CircuitOutcome): void {
    if (outcome === "answered") this.#close();
    if (outcome !== "failed") return;
    const nowMs = this.#options.nowMs();
    this.#failures = nowMs - this.#lastFailureMs > WINDOW_MS ? 1 : this.#failures + 1;
    this.#lastFailureMs = nowMs;
    if (this.#state === "closed" && this.#failures >= FAILURES_MAX) this.#open(nowMs, `${this.#failures} calls in a row failed`);
  }

  #endProbe(outcome: CircuitOutcome): void {
    if (outcome === "answered") return this.#close();
    if (this.#state !== "half_open") return;
    const nowMs = this.#options.nowMs();
    if (outcome === "failed") {
      this.#pauseMs = Math.min(this.#pauseMs * 2, PAUSE_MS_MAX);
      this.#open(nowMs, "it is not back yet");
    } else {
      this.#untilMs = nowMs;
    }
  }

  #close(): void {
    this.#failures = 0;
    this.#pauseMs = PAUSE_MS;
    if (this.#state !== "closed") this.#change("closed", "it answers again");
  }

  #open(nowMs: number, why: string): void {
    this.#untilMs = nowMs + this.#pauseMs;
    this.#change("open", `${why}; calls fail at once for ${Math.round(this.#pauseMs / 1000)} s`);
  }

  #change(state: CircuitState, why: string): void {
    this.#state = state;
    this.#options.onChange?.({
      provider: this.#options.provider,
      state,
      message: `The circuit of model provider ${this.#options.provider} is ${state}: ${why}.`,
    });
  }

  #refusal(leftMs: number): ForgeError {
    const { provider } = this.#options;
    return new ForgeError(
      ErrorCode.RESOURCE_EXHAUSTED,
      `${provider} failed several times in a row; it was not asked. It will be tried again in ${Math.ceil(leftMs / 1000)} s.`,
      {
        reason: "CIRCUIT_OPEN",
        retryable: true,
        origin: "worker",
        metadata: { provider },
        retryAfter: durationFromMs(Math.ceil(leftMs)),
      },
    );
  }
}
