import { Child } from "./child.ts";
import type { GoOn, Point, PointReached } from "./test-handlers.ts";

/** A process that a test kills and starts again, always with the same configuration. */
export class Service {
  readonly #entry: string;
  readonly #config: object;
  #child: Child | undefined;
  #reached: PointReached[] = [];
  #waiting = new Set<() => void>();

  constructor(entry: string, config: object) {
    this.#entry = entry;
    this.#config = config;
  }

  async start(): Promise<void> {
    const { child } = await Child.start(this.#entry, this.#config);
    this.#child = child;
    this.#reached = [];
    child.onMessage((message) => {
      if ((message as { type?: string }).type !== "point") return;
      this.#reached.push(message as PointReached);
      for (const notify of this.#waiting) notify();
    });
  }

  /** kill -9. */
  async kill(): Promise<void> {
    await this.#child?.kill();
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** Ends it in peace. */
  async stop(): Promise<void> {
    await this.#child?.stop();
  }

  get log(): readonly string[] {
    return this.#child?.log ?? [];
  }

  /** The id of the next call that is held at a point in this process. */
  async heldAt(point: Point, waitMs = 30_000): Promise<string> {
    const untilMs = Date.now() + waitMs;
    for (;;) {
      const index = this.#reached.findIndex((reached) => reached.point === point);
      if (index >= 0) return (this.#reached.splice(index, 1)[0] as PointReached).callId;
      const leftMs = untilMs - Date.now();
      if (leftMs <= 0) throw new Error(`no call was held at ${point} within ${waitMs} ms\n${this.log.join("\n")}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(done, leftMs);
        const waiting = this.#waiting;
        function done(): void {
          clearTimeout(timer);
          waiting.delete(done);
          resolve();
        }
        waiting.add(done);
      });
    }
  }

  /** Lets a held call go on. */
  go(callId: string): void {
    this.#child?.send({ type: "go", callId } satisfies GoOn);
  }
}
