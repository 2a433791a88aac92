import type { StreamKind } from "@forge/protocol/common";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { createLiveRegion } from "../output/live-region.ts";
import { table } from "../output/table.ts";
import { openExisting } from "../server/open-link.ts";
import { onSignals } from "../signals.ts";
import type { Listing, ListOptions } from "./listing.ts";
import { WatchedList } from "./watched-list.ts";

/** Changes that come in a burst are drawn together. */
const DRAW_MS = 100;
/** Ages grow while nothing changes. */
const AGE_MS = 1_000;
/** Of a terminal that does not say how high it is. */
const ROWS_DEFAULT = 24;
/** Titles, and the line that the cursor is on. */
const ROWS_BESIDE = 2;

/** `forge runs --watch`, `forge sessions --watch`: the list as it is and every change of it, until it is left. */
export async function watchCommand<T>(context: Context, options: ListOptions, listing: Listing<T>, kind: StreamKind): Promise<number> {
  const { terminal } = context;
  const { link } = await openExisting(context, options, { reads: true });
  const leave = new AbortController();
  const release = onSignals({ SIGINT: () => leave.abort(), SIGTERM: () => leave.abort() });
  const list = new WatchedList<T>({
    limit: options.limit,
    idOf: listing.idOf,
    belongs: (item) => listing.status === 0 || listing.statusOf(item) === listing.status,
    createdAtMs: listing.createdAtMs,
  });
  const view = terminal.isLive && options.json !== true ? liveView(context, () => linesOf(list.items, listing, context)) : undefined;
  const tell = (item: T): void => {
    if (view !== undefined) view.changed();
    else terminal.print(options.json === true ? listing.json(item) : listing.row(item).join("  "));
  };
  try {
    for await (const { kind: message } of link.watch({ kind, labels: { ...options.label } }, leave.signal)) {
      if (message.case === "ready") {
        // What was said already is not said again.
        const before = new Set(list.items.map(listing.json));
        list.replace(await listing.read(link, options));
        for (const item of list.items.toReversed()) if (!before.has(listing.json(item))) tell(item);
        view?.changed();
      }
      if (message.case === "changed") {
        const item = message.value.summary.value as T;
        list.change(item);
        tell(item);
      }
    }
    return EXIT.OK;
  } finally {
    view?.close();
    release();
    await link.close();
  }
}

interface LiveView {
  changed(): void;
  /** The lines stay as they are now. */
  close(): void;
}

function liveView({ terminal }: Context, lines: () => readonly string[]): LiveView {
  const region = createLiveRegion(terminal.out, terminal.columns, { hidesCursor: true });
  let drawnAtMs = 0;
  let hasChanged = true;
  const timer = setInterval(() => {
    if (!hasChanged && Date.now() - drawnAtMs < AGE_MS) return;
    [hasChanged, drawnAtMs] = [false, Date.now()];
    region.draw(lines());
  }, DRAW_MS);
  return {
    changed: () => {
      hasChanged = true;
    },
    close: () => {
      clearInterval(timer);
      region.close();
      for (const line of lines()) terminal.print(line);
    },
  };
}

function linesOf<T>(items: readonly T[], listing: Listing<T>, { terminal }: Context): readonly string[] {
  const fitting = items.slice(0, Math.max(1, (process.stdout.rows || ROWS_DEFAULT) - ROWS_BESIDE));
  const [titles = "", ...lines] = table(listing.columns, fitting.map(listing.row), terminal.columns() - 1);
  return [terminal.style.dim(titles), ...lines];
}
