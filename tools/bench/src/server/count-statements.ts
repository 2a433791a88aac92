import pg from "pg";
import type { ListingAnswer } from "./messages.ts";

/** What this process has sent to PostgreSQL. */
export interface StatementCounter {
  count(): number;
  /** The newest that read a list. */
  listing(): ListingAnswer["statement"];
}

/** Counts from now on, for every connection of this process. */
export function countStatements(): StatementCounter {
  let count = 0;
  let listing: ListingAnswer["statement"];
  const { query } = pg.Client.prototype as { readonly query: (this: pg.Client, ...args: unknown[]) => unknown };
  const counted = function (this: pg.Client, ...args: unknown[]): unknown {
    count++;
    const [first, second] = args;
    const { text, values } = (typeof first === "string" ? { text: first, values: second } : first) as { readonly text?: string; readonly values?: unknown };
    if (text?.includes("from forge.listing") === true && text.includes("limit")) listing = { text, values: Array.isArray(values) ? values : [] };
    return query.apply(this, args);
  };
  pg.Client.prototype.query = counted as typeof pg.Client.prototype.query;
  return { count: () => count, listing: () => listing };
}
