import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { type HostRules, isHostAllowed, isNamedHost } from "../sandbox/host-rules.ts";
import { publicLookup, requirePublicHost } from "../sandbox/network-address.ts";

/** A request as it is sent. */
export interface HttpRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** An answer, its body decoded and cut at the bound. */
export interface HttpAnswer {
  /** After redirects. */
  readonly url: URL;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly isCut: boolean;
}

/** What may be asked, and how much of it is taken. */
export interface HttpLimits {
  /** Absent: every host of the public internet, at every port. */
  readonly hosts?: HostRules;
  readonly bodyBytesMax: number;
  /** Names, in small letters, of headers that stay behind where a redirect leads to another origin. */
  readonly privateHeaders: ReadonlySet<string>;
}

const REDIRECTS_MAX = 5;
const HEADER_BYTES_MAX = 32 * 1024;
/** Names that no other origin is sent, whoever set them. */
const CREDENTIALS = new Set(["authorization", "cookie", "proxy-authorization"]);

/**
 * Sends a request and follows up to 5 redirects, each looked at like the first. The address that a connection is made to is the one that was looked at. What
 * leads to another origin is sent no credentials, and no body: such a redirect is answered instead of followed. Errors: sandbox_violation for what the rules
 * refuse; provider_error for what can't be reached.
 */
export async function sendRequest(first: HttpRequest, limits: HttpLimits, signal: AbortSignal): Promise<HttpAnswer> {
  let request = first;
  for (let redirects = 0; ; redirects++) {
    requireAllowed(request.url, limits.hosts);
    const incoming = await send(request, limits.hosts, signal);
    const next = redirect(request, incoming, limits);
    if (next === undefined) return answer(request.url, incoming, limits.bodyBytesMax, signal);
    incoming.destroy();
    if (redirects === REDIRECTS_MAX) throw failed(`${first.url.host} redirects more than ${REDIRECTS_MAX} times`, "TOO_MANY_REDIRECTS");
    request = next;
  }
}

/** Throws for a URL that must not be asked, as far as that can be told without looking its name up. */
export function requireAllowed(url: URL, hosts: HostRules | undefined): void {
  if (url.protocol !== "http:" && url.protocol !== "https:") throw refused(`${url.protocol} is not http or https`, "SCHEME_REFUSED");
  if (url.username !== "" || url.password !== "") throw refused("a URL has no name and password in it; set a header", "CREDENTIALS_REFUSED");
  if (hosts !== undefined && !isHostAllowed(hosts, url.hostname, portOf(url)))
    throw refused(`${url.host} is not among the hosts that tools.http may ask`, "HOST_REFUSED");
  if (!isNamed(url, hosts)) requirePublicHost(url.hostname);
}

function isNamed(url: URL, hosts: HostRules | undefined): boolean {
  return hosts !== undefined && isNamedHost(hosts, url.hostname, portOf(url));
}

/** With the scheme's own, where none is written. */
function portOf(url: URL): number {
  return Number(url.port || (url.protocol === "https:" ? 443 : 80));
}

async function send({ method, url, headers, body }: HttpRequest, hosts: HostRules | undefined, signal: AbortSignal): Promise<IncomingMessage> {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const outgoing = send(url, {
      method,
      headers: { "user-agent": "forge", accept: "*/*", "accept-encoding": "gzip, br, deflate", ...headers },
      maxHeaderSize: HEADER_BYTES_MAX,
      agent: false,
      signal,
      ...(isNamed(url, hosts) ? {} : { lookup: publicLookup }),
    });
    outgoing.once("response", resolve);
    outgoing.once("error", (error) => {
      const cause = signal.aborted ? signal.reason : error;
      reject(cause instanceof ForgeError ? cause : failed(`${url.host} can't be asked: ${error.message}`, "UNREACHABLE", error));
    });
    outgoing.end(body);
  });
}

/** What an answer leads to; undefined where it is the answer. */
function redirect(request: HttpRequest, { statusCode = 0, headers }: IncomingMessage, { privateHeaders }: HttpLimits): HttpRequest | undefined {
  const { location } = headers;
  if (![301, 302, 303, 307, 308].includes(statusCode) || location === undefined || !URL.canParse(location, request.url.href)) return undefined;
  const url = new URL(location, request.url);
  const becomesGet = request.method !== "HEAD" && (statusCode === 303 || ((statusCode === 301 || statusCode === 302) && request.method === "POST"));
  const body = becomesGet ? undefined : request.body;
  const staysHere = url.origin === request.url.origin;
  if (!staysHere && body !== undefined) return undefined;
  const dropped = (name: string): boolean => {
    const lower = name.toLowerCase();
    return (!staysHere && (CREDENTIALS.has(lower) || privateHeaders.has(lower))) || (becomesGet && lower.startsWith("content-"));
  };
  const kept = Object.fromEntries(Object.entries(request.headers).filter(([name]) => !dropped(name)));
  return { method: becomesGet ? "GET" : request.method, url, headers: kept, body };
}

async function answer(url: URL, incoming: IncomingMessage, bytesMax: number, signal: AbortSignal): Promise<HttpAnswer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  const decoded = decode(incoming);
  try {
    for await (const piece of decoded as AsyncIterable<Buffer>) {
      pieces.push(piece.subarray(0, bytesMax - bytes));
      bytes += piece.length;
      if (bytes <= bytesMax) continue;
      isCut = true;
      break;
    }
  } catch (error) {
    const cause: unknown = signal.aborted ? signal.reason : error;
    throw cause instanceof ForgeError ? cause : failed(`the answer of ${url.host} broke off: ${(error as Error).message}`, "BROKEN_ANSWER", error);
  } finally {
    incoming.destroy();
    decoded.destroy();
  }
  const headers = Object.fromEntries(Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]));
  return { url, status: incoming.statusCode ?? 0, headers, body: Buffer.concat(pieces), isCut };
}

function decode(incoming: IncomingMessage): Readable {
  const decoders = { gzip: createGunzip, "x-gzip": createGunzip, br: createBrotliDecompress, deflate: createInflate };
  const encoding = (incoming.headers["content-encoding"] ?? "identity").toLowerCase();
  if (!Object.hasOwn(decoders, encoding)) return incoming;
  const decoder = decoders[encoding as keyof typeof decoders]();
  incoming.on("error", (error) => decoder.destroy(error));
  return incoming.pipe(decoder);
}

function refused(message: string, reason: string): ForgeError {
  return new ForgeError(ErrorCode.SANDBOX_VIOLATION, message, { reason, origin: "tool" });
}

function failed(message: string, reason: string, cause?: unknown): ForgeError {
  return new ForgeError(ErrorCode.PROVIDER_ERROR, message, { reason, origin: "tool", cause });
}
