import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectClient } from "@forge/client";
import type { SuiteClient } from "./client.ts";

/** What a scenario may use. Every case has its own; the servers are shared by all. */
export interface World {
  /** A client of the implementation under test; closed after the case. Absent options: of the first server, with a token that may do everything. */
  open(options?: { readonly url?: string; readonly token?: string }): Promise<SuiteClient>;
  /** The control planes' addresses, one or two. */
  readonly urls: readonly string[];
  readonly token: string;
  /** What a worker registers with. */
  readonly workerToken: string;
  /** Known to be right: to set things up, and to look at what came of them. */
  readonly reference: ConnectClient;
  /** A queue of this case's own: no executor serves it unless the case does. The shared executor serves "default" with the demo models and the test tools. */
  readonly queue: string;
  /** Kills (-9) and starts every control plane and executor. Shared: it happens once all cases that run at the same time have come to it, or ended. */
  restart(): Promise<void>;
  /** The newest lines that the servers have written. */
  serverLog(): string;
  /** How often a tool call had its effect (test.append, test.again, test.note). */
  effects(toolCallId: string): Promise<number>;
  /** Runs after the case, also when it failed, last first. */
  defer(cleanup: () => Promise<void> | void): void;
}

/** One promise of the contract, tried on every client. */
export interface Scenario {
  /** A group of the table, for example "Commands". */
  readonly group: string;
  /** A sentence that is true, for example "the same command 20 times at once has one effect". */
  readonly name: string;
  /** What a client must have for it; one that lacks a method is shown with a dash. */
  readonly methods: readonly DescMethod[];
  /**
   * Its clients call servers of the scenario's own, by World.open's url, or it is about what lies between a client and its server. One that finds its server by
   * itself is shown with a dash. Absent: false.
   */
  readonly bringsServer?: boolean;
  /** Its servers stay broken: a client that looks for another where its own does not answer is shown with a dash. Absent: false. */
  readonly breaksServer?: boolean;
  /** Throws where the promise is broken. At most 30 s on a machine with nothing else to do. */
  run(world: World): Promise<void>;
}
