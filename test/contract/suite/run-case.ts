import { randomUUID } from "node:crypto";
import type { SuiteClient } from "./client.ts";
import type { Driver } from "./driver.ts";
import type { Scenario, World } from "./scenario.ts";
import type { SharedRestart } from "./shared-restart.ts";
import type { RunningTopology } from "./topologies.ts";
import { Trace } from "./trace.ts";

/** Four times of what a scenario may take, for a busy machine. Waiting for a restart, which waits for others, is not counted. */
const CASE_MS_MAX = 120_000;

/** What came of one scenario on one implementation. */
export interface CaseResult {
  /** Absent: the promise was kept. */
  readonly error?: unknown;
  /** What its clients did last. */
  readonly trace: string;
  readonly durationMs: number;
}

/** Runs one case in a world of its own, and leaves nothing open. */
export async function runCase(scenario: Scenario, driver: Driver, topology: RunningTopology, restart: SharedRestart): Promise<CaseResult> {
  const startedAtMs = performance.now();
  const trace = new Trace();
  const ticket = restart.enter();
  const clock = new CaseClock(CASE_MS_MAX);
  const cleanup: (() => Promise<void> | void)[] = [];
  const clients: SuiteClient[] = [];
  const world: World = {
    open: async ({ url = topology.urls[0] as string, token = topology.token } = {}) => {
      const ephemeral = !topology.urls.includes(url);
      const client = await driver.open({ url, token, databaseUrl: topology.databaseUrl, ephemeral }, trace);
      clients.push(client);
      return client;
    },
    urls: topology.urls,
    token: topology.token,
    workerToken: topology.workerToken,
    reference: topology.reference,
    queue: `case-${randomUUID()}`,
    restart: async () => {
      trace.add("everything is killed and started");
      await clock.stopped(ticket.arrive());
    },
    serverLog: () => topology.log().join("\n"),
    effects: async (toolCallId) => (await topology.effects()).get(toolCallId) ?? 0,
    defer: (clean) => void cleanup.push(clean),
  };
  const errors: unknown[] = [];
  const attempt = async (part: () => Promise<void> | void) => {
    try {
      await part();
    } catch (error) {
      errors.push(error);
    }
  };
  await attempt(() => Promise.race([scenario.run(world), clock.over]));
  clock.end();
  // What a case left running after its time may still open something; it is closed with the rest as long as it comes before this.
  for (const client of clients.toReversed()) await attempt(() => client.close());
  for (const clean of cleanup.toReversed()) await attempt(clean);
  ticket.leave();
  const result = { trace: trace.toString(), durationMs: performance.now() - startedAtMs };
  // What a case leaves behind fails it as well, but what broke first explains it.
  return errors.length === 0 ? result : { ...result, error: errors[0] };
}

/** Counts a case's own time. */
class CaseClock {
  readonly over: Promise<never>;
  readonly #reject: (error: Error) => void;
  readonly #msMax: number;
  #leftMs: number;
  #sinceMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(msMax: number) {
    const { promise, reject } = Promise.withResolvers<never>();
    this.over = promise;
    this.#reject = reject;
    this.#msMax = msMax;
    this.#leftMs = msMax;
    this.#start();
  }

  /** Waits for something in which the clock stands still. */
  async stopped(waiting: Promise<void>): Promise<void> {
    this.end();
    this.#leftMs -= performance.now() - this.#sinceMs;
    try {
      await waiting;
    } finally {
      this.#start();
    }
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #start(): void {
    this.#sinceMs = performance.now();
    this.#timer = setTimeout(() => this.#reject(new Error(`the case did not end within ${this.#msMax} ms`)), Math.max(1, this.#leftMs));
  }
}
