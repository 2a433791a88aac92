import type { ServerOptions } from "../context.ts";
import type { Column } from "../output/table.ts";
import type { ProjectLink } from "../server/project-link.ts";

export interface ListOptions extends ServerOptions {
  /** An enum name without prefix. */
  readonly status?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly limit: number;
  /** Stay, and show what changes. */
  readonly watch?: boolean;
}

/** One kind of list: how it is read and shown. */
export interface Listing<T> {
  /** For people: "runs". */
  readonly name: string;
  /** What is asked for; 0: any. */
  readonly status: number;
  readonly columns: readonly Column[];
  readonly read: (link: ProjectLink, options: ListOptions) => Promise<readonly T[]>;
  readonly row: (item: T) => readonly string[];
  readonly json: (item: T) => string;
  readonly idOf: (item: T) => string;
  readonly statusOf: (item: T) => number;
  readonly createdAtMs: (item: T) => number;
}
