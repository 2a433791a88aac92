import type { ForgeClient } from "@forge/client";
import { SessionStatus, SessionStatusSchema, type SessionSummary, SessionSummarySchema, TurnStatusSchema } from "@forge/protocol/session";
import { RunStatus, RunStatusSchema, type RunSummary, RunSummarySchema } from "@forge/protocol/workflow";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { formatAge, momentMs } from "../output/format-time.ts";
import { enumName, messageLine } from "../output/message-json.ts";
import { type Column, table } from "../output/table.ts";
import { oneLine } from "../output/text.ts";
import { openReading } from "../server/open-link.ts";

export interface ListOptions extends ServerOptions {
  /** An enum name without prefix. */
  readonly status?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly limit: number;
}

const PAGE_MAX = 500;

/** `forge runs`: runs, newest first. */
export async function runsCommand(context: Context, options: ListOptions): Promise<number> {
  const status = options.status === undefined ? RunStatus.UNSPECIFIED : RunStatus[options.status as keyof typeof RunStatus];
  const runs = await listed(context, options, async (client, page) => {
    const { runs: items, nextPageToken } = await client.workflow.listRuns({ ...page, status, labels: { ...options.label } });
    return { items, nextPageToken };
  });
  const columns: Column[] = [{ title: "RUN" }, { title: "WORKFLOW", shrinks: true }, { title: "STATUS" }, { title: "AGE", align: "right" }];
  print(context, options, runs, columns, (run) => messageLine(RunSummarySchema, run), runRow, "runs");
  return EXIT.OK;
}

/** `forge sessions`: sessions, newest first. */
export async function sessionsCommand(context: Context, options: ListOptions): Promise<number> {
  const status = options.status === undefined ? SessionStatus.UNSPECIFIED : SessionStatus[options.status as keyof typeof SessionStatus];
  const sessions = await listed(context, options, async (client, page) => {
    const { sessions: items, nextPageToken } = await client.session.listSessions({ ...page, status, labels: { ...options.label } });
    return { items, nextPageToken };
  });
  const columns: Column[] = [{ title: "SESSION" }, { title: "MODEL", shrinks: true }, { title: "STATUS" }, { title: "TURN" }, { title: "AGE", align: "right" }];
  print(context, options, sessions, columns, (session) => messageLine(SessionSummarySchema, session), sessionRow, "sessions");
  return EXIT.OK;
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

async function listed<T>(
  context: Context,
  options: ListOptions,
  read: (
    client: ForgeClient,
    page: { readonly pageSize: number; readonly pageToken: string },
  ) => Promise<{ readonly items: readonly T[]; readonly nextPageToken: string }>,
): Promise<readonly T[]> {
  const opened = await openReading(context, options);
  if (opened === undefined) return [];
  const { link } = opened;
  try {
    const all: T[] = [];
    for (let pageToken = ""; ; ) {
      const page = { pageSize: Math.min(PAGE_MAX, options.limit - all.length), pageToken };
      const { items, nextPageToken } = await link.call((client) => read(client, page));
      all.push(...items);
      if (nextPageToken === "" || all.length >= options.limit) return all;
      pageToken = nextPageToken;
    }
  } finally {
    await link.close();
  }
}

function print<T>(
  { terminal }: Context,
  options: ListOptions,
  items: readonly T[],
  columns: readonly Column[],
  json: (item: T) => string,
  row: (item: T) => readonly string[],
  what: string,
): void {
  if (options.json === true) {
    for (const item of items) terminal.print(json(item));
    return;
  }
  if (items.length === 0) {
    terminal.note(`no ${what}`);
    return;
  }
  const width = terminal.isLive ? terminal.columns() : Number.MAX_SAFE_INTEGER;
  const [titles = "", ...lines] = table(columns, items.map(row), width);
  terminal.print(terminal.style.dim(titles));
  for (const line of lines) terminal.print(line);
}
