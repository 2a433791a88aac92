import type { AppendOutcome, StreamAppend } from "@forge/engine/ports";
import { ForgeError, isUuid } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { Database } from "../database.ts";
import { isDataError, isTransient, toForgeError } from "../storage-error.ts";
import { type EncodedBatch, encodeBatch } from "./batch.ts";
import { statementFor } from "./statements.ts";

/** A statement that never waits is not expected to be rolled back because of others at all; a standby or a pooler may do it all the same. */
const ATTEMPTS_MAX = 5;

/**
 * Settings of the connections that append. A generic plan, because planning costs more than running; look-ups by key whatever the statistics of a young table say;
 * no just-in-time compilation, which the cost of a disabled scan would set off.
 */
export const APPEND_SETTINGS: Readonly<Record<string, string>> = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_mergejoin: "off",
  enable_bitmapscan: "off",
  jit: "off",
  // Never read-committed by accident of the server's configuration: the soundness of the recheck depends on it.
  default_transaction_isolation: "read\\ committed",
};

interface OutcomeRow {
  readonly i: number;
  readonly outcome: "ok" | "seen" | "conflict" | "fenced" | "busy";
  readonly seq: number;
}

/** Appends a batch: creates in one statement, the others in another, at the same time. */
export async function append(database: Database, appends: readonly StreamAppend[]): Promise<readonly AppendOutcome[]> {
  refuseTwice(appends);
  const outcomes: AppendOutcome[] = appends.map((append) => checkIds(append) ?? { outcome: "busy" });
  const run = async (kind: "create" | "append"): Promise<void> => {
    const places = [...appends.keys()].filter((place) => {
      const { expectedSeq } = appends[place] as StreamAppend;
      return outcomes[place]?.outcome !== "error" && (expectedSeq === 0) === (kind === "create");
    });
    const results = await runBatch(
      database,
      kind,
      places.map((place) => appends[place] as StreamAppend),
    );
    for (const [index, place] of places.entries()) outcomes[place] = results[index] as AppendOutcome;
  };
  // Both end before either's error goes out: nothing runs on behind the caller's back.
  const settled = await Promise.allSettled([run("append"), run("create")]);
  const failed = settled.find((result) => result.status === "rejected");
  if (failed !== undefined) throw toForgeError(failed.reason);
  return outcomes;
}

/** Data that the server refuses fails the whole statement; halving the batch finds the culprit in few statements, and only it gets the error. */
async function runBatch(database: Database, kind: "create" | "append", appends: readonly StreamAppend[]): Promise<readonly AppendOutcome[]> {
  if (appends.length === 0) return [];
  try {
    return await runStatement(database, kind, appends);
  } catch (error) {
    if (!isDataError(error) && !(error instanceof EncodingError)) throw error;
    if (appends.length === 1) return [{ outcome: "error", message: toForgeError(error).message }];
    const middle = appends.length >> 1;
    return [...(await runBatch(database, kind, appends.slice(0, middle))), ...(await runBatch(database, kind, appends.slice(middle)))];
  }
}

/** Data of one append that has no place in its column, such as a number that is out of range. */
class EncodingError extends Error {}

function encode(appends: readonly StreamAppend[]): EncodedBatch {
  try {
    return encodeBatch(appends);
  } catch (error) {
    throw new EncodingError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function runStatement(database: Database, kind: "create" | "append", appends: readonly StreamAppend[]): Promise<readonly AppendOutcome[]> {
  const { present, values } = encode(appends);
  const { name, text } = statementFor(kind, present);
  for (let attempt = 1; ; attempt++) {
    try {
      const rows = await database.execute<OutcomeRow>(name, text, values);
      const outcomes: AppendOutcome[] = [];
      for (const { i, outcome, seq } of rows) outcomes[i] = outcome === "conflict" ? { outcome, seq } : { outcome };
      return outcomes;
    } catch (error) {
      if (!isTransient(error) || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** Two appends to one stream in a batch would both see the same head. */
function refuseTwice(appends: readonly StreamAppend[]): void {
  const streams = new Set(appends.map(({ namespace, streamId }) => JSON.stringify([namespace, streamId])));
  if (streams.size !== appends.length)
    throw new ForgeError(ErrorCode.INTERNAL, "A batch of appends holds a stream twice; commands for one stream must be merged.");
}

/** Stream ids are packed here, not parsed by the server, so they are checked here too. */
function checkIds(append: StreamAppend): AppendOutcome | undefined {
  const ids = [append.streamId, ...append.requires.map(({ streamId }) => streamId), ...append.settles.map(({ streamId }) => streamId)];
  const wrong = ids.find((id) => !isUuid(id));
  return wrong === undefined ? undefined : { outcome: "error", message: `A stream id is not a UUID in lower case: ${JSON.stringify(wrong)}.` };
}
