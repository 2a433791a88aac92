import type { ForgeClient } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import { SessionStatus, SessionStatusSchema, type SessionSummary, SessionSummarySchema, TurnStatusSchema } from "@forge/protocol/session";
import { RunStatus, RunStatusSchema, type RunSummary, RunSummarySchema } from "@forge/protocol/workflow";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { formatAge, momentMs } from "../output/format-time.ts";
import { enumName, messageLine } from "../output/message-json.ts";
import { table } from "../output/table.ts";
import { oneLine } from "../output/text.ts";
import { openReading } from "../server/open-link.ts";
import type { ProjectLink } from "../server/project-link.ts";
import type { Listing, ListOptions } from "./listing.ts";
import { watchCommand } from "./watch-command.ts";

const PAGE_MAX = 500;

/** `forge runs`: runs, newest first. */
export async function runsCommand(context: Context, options: ListOptions): Promise<number> {
  const status = options.status === undefined ? RunStatus.UNSPECIFIED : RunStatus[options.status as keyof typeof RunStatus];
  const listing: Listing<RunSummary> = {
    name: "runs",
    status,
    columns: [{ title: "RUN" }, { title: "WORKFLOW", shrinks: true }, { title: "STATUS" }, { title: "AGE", align: "right" }],
    read: (link, { limit, label }) =>
      readPages(link, limit, async (client, page) => {
        const { runs: items, nextPageToken } = await client.workflow.listRuns({ ...page, status, labels: { ...label } });
        return { items, nextPageToken };
      }),
    row: runRow,
    json: (run) => messageLine(RunSummarySchema, run),
    idOf: ({ runId }) => runId,
    statusOf: (run) => run.status,
    createdAtMs: ({ createdAt }) => momentMs(createdAt),
  };
  return options.watch === true ? watchCommand(context, options, listing, StreamKind.RUN) : printList(context, options, listing);
}

/** `forge sessions`: sessions, newest first. */
export async function sessionsCommand(context: Context, options: ListOptions): Promise<number> {
  const status = options.status === undefined ? SessionStatus.UNSPECIFIED : SessionStatus[options.status as keyof typeof SessionStatus];
  const listing: Listing<SessionSummary> = {
    name: "sessions",
    status,
    columns: [{ title: "SESSION" }, { title: "MODEL", shrinks: true }, { title: "STATUS" }, { title: "TURN" }, { title: "AGE", align: "right" }],
    read: (link, { limit, label }) =>
      readPages(link, limit, async (client, page) => {
        const { sessions: items, nextPageToken } = await client.session.listSessions({ ...page, status, labels: { ...label } });
        return { items, nextPageToken };
      }),
    row: sessionRow,
    json: (session) => messageLine(SessionSummarySchema, session),
    idOf: ({ sessionId }) => sessionId,
    statusOf: (session) => session.status,
    createdAtMs: ({ createdAt }) => momentMs(createdAt),
  };
  return options.watch === true ? watchCommand(context, options, listing, StreamKind.SESSION) : printList(context, options, listing);
}

function runRow(run: RunSummary): string[] {
  return [run.runId, oneLine(`${run.workflowId}@${run.workflowVersion}${labels(run.labels)}`), enumName(RunStatusSchema, run.status), age(run)];
}

function sessionRow(session: SessionSummary): string[] {
  const turn = session.turnStatus === 0 ? "-" : enumName(TurnStatusSchema, session.turnStatus);
  return [
    session.sessionId,
    oneLine(`${session.model} ${session.title}${labels(session.labels)}`),
    enumName(SessionStatusSchema, session.status),
    turn,
    age(session),
  ];
}

function age({ createdAt }: Pick<RunSummary, "createdAt">): string {
  return formatAge(momentMs(createdAt), Date.now());
}

function labels(given: Readonly<Record<string, string>>): string {
  return Object.entries(given)
    .map(([key, value]) => ` ${key}=${value}`)
    .join("");
}

async function readPages<T>(
  link: ProjectLink,
  limit: number,
  read: (
    client: ForgeClient,
    page: { readonly pageSize: number; readonly pageToken: string },
  ) => Promise<{ readonly items: readonly T[]; readonly nextPageToken: string }>,
): Promise<readonly T[]> {
  const all: T[] = [];
  for (let pageToken = ""; ; ) {
    const page = { pageSize: Math.min(PAGE_MAX, limit - all.length), pageToken };
    const { items, nextPageToken } = await link.call((client) => read(client, page));
    all.push(...items);
    if (nextPageToken === "" || all.length >= limit) return all;
    pageToken = nextPageToken;
  }
}

async function printList<T>(context: Context, options: ListOptions, listing: Listing<T>): Promise<number> {
  const { terminal } = context;
  const opened = await openReading(context, options);
  let items: readonly T[] = [];
  try {
    if (opened !== undefined) items = await listing.read(opened.link, options);
  } finally {
    await opened?.link.close();
  }
  if (options.json === true) {
    for (const item of items) terminal.print(listing.json(item));
    return EXIT.OK;
  }
  if (items.length === 0) {
    terminal.note(`no ${listing.name}`);
    return EXIT.OK;
  }
  const width = terminal.isLive ? terminal.columns() : Number.MAX_SAFE_INTEGER;
  const [titles = "", ...lines] = table(listing.columns, items.map(listing.row), width);
  terminal.print(terminal.style.dim(titles));
  for (const line of lines) terminal.print(line);
  return EXIT.OK;
}
