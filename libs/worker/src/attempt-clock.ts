import { durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Task } from "@forge/protocol/worker";

const TIMER_MS_MAX = 2 ** 31 - 1;

/** The bounds of one attempt: when it must have ended, how long it may take from its beginning, and how long it may be silent. `stop` is told which one has passed. */
export class AttemptClock {
  readonly #task: Task;
  readonly #stop: (reason: ForgeError) => void;
  readonly #deadline: NodeJS.Timeout | undefined;
  #limit: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #runs = false;

  constructor(task: Task, stop: (reason: ForgeError) => void) {
    this.#task = task;
    this.#stop = stop;
    this.#deadline = task.deadlineAt === undefined ? undefined : timer(timestampMs(task.deadlineAt) - Date.now(), () => this.#expire());
  }

  /** Its time counts from now. */
  begin(): void {
    const { timeout } = this.#task;
    this.#runs = true;
    clearTimeout(this.#limit);
    if (timeout !== undefined) this.#limit = timer(durationMs(timeout), () => this.#expire());
    this.alive();
  }

  /** It waits for its turn, and its time does not run; only the deadline does. */
  hold(): void {
    this.#runs = false;
    clearTimeout(this.#limit);
    clearTimeout(this.#silence);
  }

  alive(): void {
    const { heartbeatTimeout } = this.#task;
    if (heartbeatTimeout === undefined || !this.#runs) return;
    const ms = durationMs(heartbeatTimeout);
    clearTimeout(this.#silence);
    this.#silence = timer(ms, () =>
      this.#stop(new ForgeError(ErrorCode.DEADLINE_EXCEEDED, `it gave no sign of life for ${ms} ms`, { reason: "HEARTBEAT_TIMEOUT" })),
    );
  }

  end(): void {
    this.hold();
    clearTimeout(this.#deadline);
  }

  #expire(): void {
    this.#stop(new ForgeError(ErrorCode.DEADLINE_EXCEEDED, "the task took longer than it may"));
  }
}

function timer(ms: number, then: () => void): NodeJS.Timeout {
  return setTimeout(then, Math.min(Math.max(0, ms), TIMER_MS_MAX));
}
