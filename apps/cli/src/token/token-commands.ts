import { createHash, randomBytes } from "node:crypto";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { accessRole, type Role, roleName } from "@forge/protocol";
import { CreateTokenResponseSchema, type Token, TokenSchema } from "@forge/protocol/token";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { formatMoment, momentMs } from "../output/format-time.ts";
import { messageJson, messageLine } from "../output/message-json.ts";
import { table } from "../output/table.ts";
import { locateProject } from "../server/locate-project.ts";
import { openExisting, openLink, openReading } from "../server/open-link.ts";
import { remoteHint, remoteOf } from "../server/remote.ts";

export interface AddTokenOptions extends Omit<ServerOptions, "namespace"> {
  readonly role: Role;
  /** Those that the token grants. */
  readonly namespace?: readonly string[];
  readonly queue?: readonly string[];
  /** Milliseconds from now. */
  readonly expires?: number;
  readonly quiet?: boolean;
}

const PAGE = 500;

/** `forge token add`: the token is made here, and its hash alone is sent. */
export async function addTokenCommand(context: Context, name: string, { namespace, ...options }: AddTokenOptions): Promise<number> {
  const { terminal, environment } = context;
  const { root, hint } = await locateProject(context, options, { hasData: remoteOf(context, options) === undefined });
  const text = `forge_${randomBytes(32).toString("base64url")}`;
  const grant = {
    name,
    role: accessRole(options.role),
    namespaces: [...(namespace ?? [environment.FORGE_NAMESPACE || "default"])],
    queues: [...(options.queue ?? [])],
    expiresAt: options.expires === undefined ? undefined : timestampFromMs(Date.now() + options.expires),
  };
  const link = await openLink(context, { ...options, json: options.json === true || options.quiet === true }, { root, reads: false });
  try {
    const answer = await link.call((client) => client.token.createToken({ grant, tokenSha256: createHash("sha256").update(text).digest() }));
    if (options.json === true) {
      terminal.print(JSON.stringify({ ...messageJson(CreateTokenResponseSchema, answer), text }));
      return EXIT.OK;
    }
    terminal.print(text);
    if (options.quiet !== true) {
      terminal.note(`${describe(answer.token as Token)}. This is the only time that it is shown: keep it where its user finds it as FORGE_TOKEN.`);
      terminal.note(`npx forge token revoke ${name}${hint}${remoteHint({ url: options.url })} withdraws it.`);
    }
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

/** `forge token list`: tokens by name, those that work. */
export async function listTokensCommand(context: Context, options: ServerOptions): Promise<number> {
  const { terminal } = context;
  const tokens = await readTokens(context, options);
  if (options.json === true) {
    for (const token of tokens) terminal.print(messageLine(TokenSchema, token));
    return EXIT.OK;
  }
  if (tokens.length === 0) {
    terminal.note("no tokens");
    return EXIT.OK;
  }
  const columns = [
    { title: "TOKEN" },
    { title: "ROLE" },
    { title: "NAMESPACES", shrinks: true },
    { title: "QUEUES" },
    { title: "EXPIRES" },
    { title: "GRANTED BY" },
  ];
  const [titles = "", ...lines] = table(columns, tokens.map(row), terminal.isLive ? terminal.columns() : Number.MAX_SAFE_INTEGER);
  terminal.print(terminal.style.dim(titles));
  for (const line of lines) terminal.print(line);
  return EXIT.OK;
}

/** `forge token revoke`. */
export async function revokeTokenCommand(context: Context, name: string, options: ServerOptions): Promise<number> {
  const { link } = await openExisting(context, options, { reads: false });
  try {
    await link.call((client) => client.token.revokeToken({ name }));
    context.terminal.print(options.json === true ? "{}" : `Revoked ${name}: calls with it are refused within 5 seconds.`);
    return EXIT.OK;
  } finally {
    await link.close();
  }
}

async function readTokens(context: Context, options: ServerOptions): Promise<readonly Token[]> {
  const opened = await openReading(context, options);
  if (opened === undefined) return [];
  const { link } = opened;
  try {
    const all: Token[] = [];
    for (let pageToken = ""; ; ) {
      const page = await link.call((client) => client.token.listTokens({ pageSize: PAGE, pageToken }));
      all.push(...page.tokens);
      if (page.nextPageToken === "") return all;
      pageToken = page.nextPageToken;
    }
  } finally {
    await link.close();
  }
}

function describe({ grant }: Token): string {
  const until = grant?.expiresAt === undefined ? "" : ` until ${formatMoment(momentMs(grant.expiresAt))}`;
  return `${grant?.name} is ${article(grantedRole(grant))} of ${grant?.namespaces.join(", ")}${until}`;
}

function article(role: string): string {
  return `${/^[aeiou]/.test(role) ? "an" : "a"} ${role}`;
}

function grantedRole(grant: Token["grant"]): string {
  return roleName(grant?.role ?? 0) ?? "holder of an unknown role";
}

function row({ grant, createdBy }: Token): string[] {
  const queues = grant?.queues.length === 0 ? (roleName(grant.role) === "worker" ? "all" : "-") : (grant?.queues.join(" ") ?? "");
  const expires = grant?.expiresAt === undefined ? "never" : formatMoment(momentMs(grant.expiresAt));
  return [grant?.name ?? "", grantedRole(grant), grant?.namespaces.join(" ") ?? "", queues, expires, createdBy || "-"];
}
