import type { Event } from "@forge/protocol/event";
import { formatClock, momentMs } from "../output/format-time.ts";
import type { Style } from "../output/style.ts";
import { cut, oneLine, pad } from "../output/text.ts";
import { eventSummary } from "./event-summary.ts";

export interface EventLineOptions {
  readonly style: Style;
  /** Undefined: of any length. */
  readonly columns: number | undefined;
  /** Streams are mixed, so each line names its own. */
  readonly namesStream: boolean;
}

const KIND_COLUMNS = 22;
const SHORT_ID_CHARACTERS = 8;

/** An event on one line: seq, time, kind, ids, and what it says. */
export function eventLine(event: Event, { style, columns, namesStream }: EventLineOptions): string {
  const stream = namesStream ? `${short(event.stream?.id ?? "")} ` : "";
  const start = `${stream}${String(event.seq).padStart(5)}  ${formatClock(momentMs(event.occurredAt))}  `;
  const kind = pad(oneLine(event.kind), KIND_COLUMNS);
  const said = eventSummary(event);
  const rest = [idsOf(event), said].filter((part) => part !== "").join("  ");
  const room = columns === undefined ? Number.MAX_SAFE_INTEGER : Math.max(10, columns - start.length - kind.length - 2);
  return `${style.dim(start)}${colour(event.kind, kind, style)}  ${cut(rest, room)}`.trimEnd();
}

function idsOf({ stepId, toolCallId, modelCallId, turnId }: Event): string {
  const call =
    toolCallId !== "" ? `call ${short(toolCallId)}` : modelCallId !== "" ? `call ${short(modelCallId)}` : turnId !== "" ? `turn ${short(turnId)}` : "";
  return [stepId, call].filter((part) => part !== "").join(" ");
}

/** The end of an id: fresh ids of one moment begin alike. */
function short(id: string): string {
  return id.slice(-SHORT_ID_CHARACTERS);
}

function colour(kind: string, text: string, style: Style): string {
  if (/(?:failed|unknown|denied|expired|late)$/.test(kind)) return style.red(text);
  if (/(?:cancel_requested|cancelled|abandoned|approval_required)$/.test(kind)) return style.yellow(text);
  return /(?:completed|resolved)$/.test(kind) ? style.green(text) : style.cyan(text);
}
