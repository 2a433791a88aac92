import type { Wakeup } from "@forge/engine/ports";

export const CHANNEL = "forge_wakeup";

/** NOTIFY refuses 8000 bytes and more. */
const PAYLOAD_BYTES_MAX = 7_900;

/** Tells the others that the sender listens: a message without wake-ups. */
export function encodeHello(sender: string): string {
  return JSON.stringify({ from: sender, wakeups: [] });
}

type Item = readonly [namespace: string, streamId: string, seq: number, routes: readonly string[]];

/** Payloads that say all of it, each small enough; each names its sender, which passes over its own. A single route that is too long is left out: a wake-up is only a hint. */
export function encodeWakeups(sender: string, wakeups: readonly Wakeup[]): readonly string[] {
  const frame = JSON.stringify({ from: sender, wakeups: [] }).length;
  const payloads: string[] = [];
  let items: string[] = [];
  let size = frame;
  const flush = (): void => {
    if (items.length > 0) payloads.push(`{"from":${JSON.stringify(sender)},"wakeups":[${items.join(",")}]}`);
    items = [];
    size = frame;
  };
  const queue = wakeups.map(({ namespace, streamId, seq, routes }): Item => [namespace, streamId, seq, routes]);
  for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
    const text = JSON.stringify(item);
    const bytes = Buffer.byteLength(text) + 1;
    if (frame + bytes > PAYLOAD_BYTES_MAX) {
      queue.unshift(...halves(item));
      continue;
    }
    if (size + bytes > PAYLOAD_BYTES_MAX) flush();
    items.push(text);
    size += bytes;
  }
  flush();
  return payloads;
}

function halves([namespace, streamId, seq, routes]: Item): readonly Item[] {
  if (routes.length === 0) return [];
  if (routes.length === 1) return [[namespace, streamId, seq, []]];
  const middle = routes.length >> 1;
  return [
    [namespace, streamId, seq, routes.slice(0, middle)],
    [namespace, streamId, seq, routes.slice(middle)],
  ];
}

/** The wake-ups of a payload; undefined where it is the receiver's own, or not one of ours (anybody with the database's password can notify). */
export function decodeWakeups(receiver: string, payload: string): readonly Wakeup[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(payload);
  } catch {
    return undefined;
  }
  if (typeof parsed !== "object" || parsed === null || !("from" in parsed) || parsed.from === receiver) return undefined;
  if (!("wakeups" in parsed) || !Array.isArray(parsed.wakeups)) return undefined;
  return parsed.wakeups.filter(isItem).map(([namespace, streamId, seq, routes]) => ({ namespace, streamId, seq, routes }));
}

function isItem(value: unknown): value is Item {
  if (!Array.isArray(value)) return false;
  const [namespace, streamId, seq, routes] = value as unknown[];
  return typeof namespace === "string" && typeof streamId === "string" && typeof seq === "number" && Array.isArray(routes);
}
