import { Child } from "./child.ts";
import type { GoOn, Point, PointReached } from "./test-handlers.ts";
import { until } from "./work.ts";

/** A process that a test kills and starts again, always with the same configuration. */
export class Service {
  readonly #entry: string;
  readonly #config: object;
  #child: Child | undefined;
  #reached: PointReached[] = [];

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

  /** Stops its clock, as a machine does that swaps or loses its network. */
  freeze(): void {
    this.#child?.signal("SIGSTOP");
  }

  thaw(): void {
    this.#child?.signal("SIGCONT");
  }

  /** Ends it in peace. */
  async stop(): Promise<void> {
    await this.#child?.stop();
  }

  get log(): readonly string[] {
    return this.#child?.log ?? [];
  }

  /** The id of a call that has come to be held at a point in this process, each once; undefined where there is none now. */
  takeHeld(point: Point): string | undefined {
    const index = this.#reached.findIndex((reached) => reached.point === point);
    return index === -1 ? undefined : this.#reached.splice(index, 1)[0]?.callId;
  }

  /** The id of the next call that is held at a point in this process. */
  async heldAt(point: Point): Promise<string> {
    let callId: string | undefined;
    await until(`a call is held at ${point}`, () => (callId = this.takeHeld(point)) !== undefined, 30_000);
    return callId as string;
  }

  /** Lets a held call go on. */
  go(callId: string): void {
    this.#child?.send({ type: "go", callId } satisfies GoOn);
  }
}
