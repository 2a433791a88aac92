import type { Extent } from "../load.ts";
import type { Round } from "../statistics.ts";

/** One way to append the same rows: each round in a namespace of its own, so that what it wrote can be counted. */
export interface AppendWorkload {
  readonly name: string;
  round(namespace: string, extent: Extent): Promise<Round>;
}
