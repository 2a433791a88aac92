import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { toBinary } from "@bufbuild/protobuf";
import { commandHeader, createClient, type ForgeClient, type TransportName } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import { SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { GetSessionSnapshotResponseSchema } from "@forge/protocol/session";
import { findPython } from "@forge/python";
import { execa } from "execa";
import { measure } from "../load.ts";
import type { Row, Section } from "../report/row.ts";
import type { Scale } from "../scale.ts";
import { Child } from "../server/child.ts";
import type { Fleet } from "../server/fleet.ts";
import type { EchoConfig, EchoReady, RecordedAnswers } from "../server/messages.ts";
import { median, ratePerSecond, spread } from "../statistics.ts";

const TRANSPORTS: readonly TransportName[] = ["connect", "connect-json", "connect-http1", "connect-http1-json", "grpc", "grpc-web", "grpc-js"];
const HTTP1: ReadonlySet<TransportName> = new Set(["connect-http1", "connect-http1-json", "grpc-web"]);
const IN_FLIGHT = 32;
/** Of the stream that is read from its beginning to its end. */
const EVENTS_MIN = 1_000;
const READ_RATIO_MIN = 0.5;
const EVENT_RATIO_MIN = 0.6;

const PYTHON_SCRIPT = fileURLToPath(new URL("../python/measure.py", import.meta.url));
const PYTHON_MS_MAX = 120_000;
const NOTE =
  "Each client of this repository against Forge, and against a bare echo service: the same rpc library in a process of its own, whose handlers answer the same bytes at once. Forge also looks at " +
  `the token, asks the database for the stream's head before a snapshot, and reads the events from it. ${IN_FLIGHT} reads in flight; events of one stream from its beginning, read to its end.`;

interface Rates {
  readonly reads: number;
  readonly events: number;
}

/** A session with many events: turn after turn. */
async function longSession(client: ForgeClient): Promise<string> {
  const { sessionId } = await client.session.createSession({ header: commandHeader(), agent: { model: "demo/echo" } });
  let seq = 0;
  while (seq < EVENTS_MIN) {
    const header = commandHeader();
    const input = [{ kind: { case: "text" as const, value: { text: "The quick brown fox jumps over the lazy dog." } } }];
    await client.session.startTurn({ header, sessionId, input });
    seq = await headAfterTurn(client, sessionId, seq);
  }
  return sessionId;
}

async function headAfterTurn(client: ForgeClient, sessionId: string, afterSeq: number): Promise<number> {
  const streams = [{ stream: { kind: StreamKind.SESSION, id: sessionId }, afterSeq: BigInt(afterSeq) }];
  for await (const { kind } of client.event.subscribeEvents({ streams })) {
    if (kind.case === "event" && kind.value.kind === "turn.completed") return Number(kind.value.seq);
  }
  throw new Error(`the stream of session ${sessionId} ended before its turn`);
}

async function readEvents(client: ForgeClient, sessionId: string): Promise<number> {
  const streams = [{ stream: { kind: StreamKind.SESSION, id: sessionId } }];
  let count = 0;
  for await (const { kind } of client.event.subscribeEvents({ streams, noFollow: true })) if (kind.case === "event") count++;
  return count;
}

async function ratesOf(client: ForgeClient, sessionId: string, expected: number, seconds: number): Promise<Rates> {
  const reads = await measure(IN_FLIGHT, { seconds }, async () => {
    await client.session.getSessionSnapshot({ sessionId });
  });
  const began = performance.now();
  let events = 0;
  while (performance.now() - began < seconds * 1000) {
    const count = await readEvents(client, sessionId);
    if (count !== expected) throw new Error(`a stream of ${expected} events was read as ${count}`);
    events += count;
  }
  return { reads: ratePerSecond(reads), events: (events / (performance.now() - began)) * 1000 };
}

/** What Forge answers, as bytes for the echo service. */
async function record(client: ForgeClient, sessionId: string): Promise<RecordedAnswers> {
  const snapshot = toBinary(GetSessionSnapshotResponseSchema, await client.session.getSessionSnapshot({ sessionId }));
  const events: string[] = [];
  const streams = [{ stream: { kind: StreamKind.SESSION, id: sessionId } }];
  for await (const response of client.event.subscribeEvents({ streams, noFollow: true })) {
    events.push(Buffer.from(toBinary(SubscribeEventsResponseSchema, response)).toString("base64"));
  }
  return { snapshot: Buffer.from(snapshot).toString("base64"), events };
}

export async function measureClients(fleet: Fleet, scale: Scale): Promise<Section> {
  const sessionId = await longSession(fleet.client);
  const expected = await readEvents(fleet.client, sessionId);
  const rows: Row[] = [];
  await using cleanup = new AsyncDisposableStack();
  const directory = await mkdtemp(path.join(tmpdir(), "forge-bench-echo-"));
  cleanup.defer(() => rm(directory, { recursive: true, force: true }));
  const config: EchoConfig = { answers: path.join(directory, "answers.json") };
  await writeFile(config.answers, JSON.stringify(await record(fleet.client, sessionId)));
  const echo = await Child.start<EchoReady>(new URL("../server/echo-process.ts", import.meta.url), config);
  cleanup.defer(() => echo.stop());
  for (const transport of TRANSPORTS) {
    const forge = createClient({ url: fleet.url, token: fleet.clientToken, transport });
    const bare = createClient({ url: HTTP1.has(transport) ? echo.ready.http1Url : echo.ready.http2Url, token: fleet.clientToken, transport });
    try {
      const pairs: { readonly forge: Rates; readonly bare: Rates }[] = [];
      for (let index = 0; index <= Math.min(scale.rounds, 5); index++) {
        const pair = {
          bare: await ratesOf(bare, sessionId, expected, scale.seconds / 3),
          forge: await ratesOf(forge, sessionId, expected, scale.seconds / 3),
        };
        if (index > 0) pairs.push(pair);
      }
      rows.push(rowOf(`${transport}: snapshot reads`, "reads", READ_RATIO_MIN, pairs), rowOf(`${transport}: events`, "events", EVENT_RATIO_MIN, pairs));
    } finally {
      await forge.close();
      await bare.close();
    }
  }
  rows.push(...(await pythonRows(fleet, echo.ready.http2Url, { sessionId, expected, scale })));
  return { title: "Clients", note: NOTE, rows };
}

interface Subject {
  readonly sessionId: string;
  readonly expected: number;
  readonly scale: Scale;
}

/** The Python clients, each measurement in a process of its own; none where Python is not there. */
async function pythonRows(fleet: Fleet, echoUrl: string, { sessionId, expected, scale }: Subject): Promise<Row[]> {
  const python = await findPython();
  if (typeof python !== "string") return [];
  const rates = async (kind: string, url: string): Promise<Rates> => {
    const words = [PYTHON_SCRIPT, kind, url, sessionId, String(expected), String(scale.seconds / 3)];
    const { stdout } = await execa(python, words, { env: { FORGE_TOKEN: fleet.clientToken }, timeout: PYTHON_MS_MAX });
    return JSON.parse(stdout) as Rates;
  };
  const rows: Row[] = [];
  for (const [name, kind] of [
    ["python", "sync"],
    ["python-async", "async"],
  ] as const) {
    const pairs: { readonly forge: Rates; readonly bare: Rates }[] = [];
    for (let index = 0; index < Math.min(scale.rounds, 5); index++) pairs.push({ bare: await rates(kind, echoUrl), forge: await rates(kind, fleet.url) });
    rows.push(rowOf(`${name}: snapshot reads`, "reads", READ_RATIO_MIN, pairs), rowOf(`${name}: events`, "events", EVENT_RATIO_MIN, pairs));
  }
  return rows;
}

function rowOf(name: string, of: keyof Rates, min: number, pairs: readonly { readonly forge: Rates; readonly bare: Rates }[]): Row {
  const ratio = median(pairs.map(({ forge, bare }) => forge[of] / bare[of]));
  return {
    name,
    unit: "/s",
    value: spread(pairs.map(({ forge }) => forge[of])),
    ratio: { value: ratio, to: "echo" },
    target: { text: `at least ${min} of echo`, isMet: ratio >= min },
  };
}
