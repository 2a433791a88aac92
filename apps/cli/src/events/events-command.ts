import { ForgeError } from "@forge/protocol";
import { StreamKind } from "@forge/protocol/common";
import { EventSchema } from "@forge/protocol/event";
import { lifecycle } from "@forge/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { messageLine } from "../output/message-json.ts";
import { lifecycleLine } from "../run/lifecycle-log.ts";
import { checkId, findStream } from "../server/find-stream.ts";
import { openExisting } from "../server/open-link.ts";
import { onSignals } from "../signals.ts";
import { eventLine } from "./event-line.ts";

export interface EventsOptions extends ServerOptions {
  readonly after?: number;
  readonly follow?: boolean;
  readonly children?: boolean;
  readonly deltas?: boolean;
  /** Only the moments of a run's life, of the sessions that work for it as well. */
  readonly lifecycle?: boolean;
}

const DELTAS = ["turn.output_delta", "tool.output_delta"];

/** `forge events`: a line for each event of a run or session. */
export async function eventsCommand(context: Context, id: string, options: EventsOptions): Promise<number> {
  const { terminal } = context;
  checkId(id);
  const { link } = await openExisting(context, options, { reads: true });
  const leave = new AbortController();
  const release = onSignals({ SIGINT: () => leave.abort(), SIGTERM: () => leave.abort() });
  try {
    const { kind } = await findStream(link, id);
    if (options.lifecycle === true && kind !== StreamKind.RUN) throw ForgeError.validation("lifecycle", "--lifecycle is about a run, and this is a session");
    const moments = options.lifecycle === true ? lifecycle() : undefined;
    const line = {
      style: terminal.style,
      columns: terminal.isLive ? terminal.columns() : undefined,
      namesStream: options.children === true,
    };
    const followed = link.follow({
      streams: [{ stream: { kind, id }, afterSeq: options.after }],
      followChildren: options.children === true || moments !== undefined,
      excludeKinds: options.deltas === false || moments !== undefined ? DELTAS : [],
      noFollow: options.follow !== true,
      signal: leave.signal,
    });
    for await (const each of followed) {
      if (each.kind !== "event") continue;
      if (moments !== undefined) for (const moment of moments(each.event)) terminal.print(lifecycleLine(moment));
      else terminal.print(options.json === true ? messageLine(EventSchema, each.event) : eventLine(each.event, line));
    }
    return EXIT.OK;
  } finally {
    release();
    await link.close();
  }
}
