import { createHash } from "node:crypto";
import { validateHeaderName, validateHeaderValue } from "node:http";
import { create } from "@bufbuild/protobuf";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { RiskLevel, ToolPreviewSchema } from "@forge/protocol/tool";
import { type HostRules, isHostAllowed, requireHostPatterns } from "../sandbox/host-rules.ts";
import { createScrubber } from "../secrets/scrubber.ts";
import { type SecretSource, secretNames } from "../secrets/secret-source.ts";
import { cutText } from "../text.ts";
import { type HttpAnswer, type HttpRequest, requireAllowed, sendRequest } from "./http-request.ts";
import { requireFacts } from "./preview-stale.ts";
import type { JsonValue, ToolDefinition } from "./tool-definition.ts";

interface HttpArguments {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** What tools.http may ask. */
export interface HttpOptions {
  /** Absent: every host of the public internet. A host of a private network has to be named here in full. */
  readonly hosts?: HostRules;
  readonly secrets?: SecretSource;
  /** The hosts that a secret may be sent to, by its name; a secret that is not here is sent nowhere. */
  readonly secretHosts?: Readonly<Record<string, readonly string[]>>;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const TIMEOUT_MS = 60_000;
const BODY_BYTES_MAX = 1024 * 1024;
/** They are the connection's, or say who asks. */
const REFUSED_HEADERS =
  /^(?:host|connection|content-length|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|sec-.*|via|x-forwarded-.*|forwarded)$/i;
const HEADERS_SHOWN_MAX = 64;
const HEADER_LENGTH_MAX = 1_024;

/** Asks the network. It is always one that executes, whatever the method: a URL alone can carry away what was read before. */
export function httpTool({ hosts, secrets, secretHosts = {} }: HttpOptions): ToolDefinition<HttpArguments> {
  requireHostPatterns("http.hosts", [...(hosts?.allow ?? []), ...(hosts?.deny ?? [])]);
  for (const [name, allowed] of Object.entries(secretHosts)) requireHostPatterns(`http.secret_hosts.${name}`, allowed);
  const plan = (args: HttpArguments): Plan => planRequest(args, hosts, secretHosts);
  return {
    name: "tools.http",
    description:
      "Sends an HTTP request and returns status, headers and body (at most 1 MiB): parsed where it is JSON, as text, or in base64. Follows up to 5 redirects. " +
      "A header's value may hold secret://name in a secret's place.",
    inputSchema: {
      type: "object",
      properties: {
        url: { type: "string", minLength: 1, maxLength: 8_192 },
        method: { enum: METHODS, description: "Absent: GET." },
        headers: { type: "object", additionalProperties: { type: "string", maxLength: 8_192 }, maxProperties: 32 },
        body: { type: "string", maxLength: 256 * 1024, description: "Set content-type beside it." },
      },
      required: ["url"],
      additionalProperties: false,
    },
    idempotent: false,
    risk: RiskLevel.EXECUTE,
    timeoutMs: TIMEOUT_MS,
    preview: async (args) => {
      const { request, factsJson, ruleKey, ruleTitle, withSecrets } = plan(args);
      const size = request.body === undefined ? "" : ` (${Buffer.byteLength(request.body)} bytes)`;
      return create(ToolPreviewSchema, { title: cutText(`${request.method} ${request.url.href}`, 180) + size + withSecrets, factsJson, ruleKey, ruleTitle });
    },
    execute: async (args, { signal, previewed }) => {
      const { request, factsJson, secretHeaders } = plan(args);
      requireFacts(previewed, factsJson, "The request would not be the same any more");
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, secrets?.resolve(value) ?? value]));
      for (const [name, value] of Object.entries(headers)) requireHeader(name, value);
      const answer = await sendRequest({ ...request, headers }, { hosts, bodyBytesMax: BODY_BYTES_MAX, privateHeaders: secretHeaders }, signal);
      return output(answer, createScrubber(secrets?.values() ?? []).scrub);
    },
  };
}

interface Plan {
  readonly request: HttpRequest;
  /** Names of headers with a secret, in small letters. */
  readonly secretHeaders: ReadonlySet<string>;
  readonly factsJson: string;
  readonly ruleKey: string;
  readonly ruleTitle: string;
  /** In words, where there are any. */
  readonly withSecrets: string;
}

function planRequest(
  { url: written, method = "GET", headers = {}, body }: HttpArguments,
  hosts: HostRules | undefined,
  secretHosts: Readonly<Record<string, readonly string[]>>,
): Plan {
  if (!URL.canParse(written)) throw ForgeError.validation("arguments.url", "url is no absolute URL", { origin: "tool" });
  const url = new URL(written);
  url.hash = "";
  requireAllowed(url, hosts);
  if (body !== undefined && (method === "GET" || method === "HEAD"))
    throw ForgeError.validation("arguments.body", `a ${method} has no body`, { origin: "tool" });
  for (const [name, value] of Object.entries(headers)) requireHeader(name, value);
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  const secretHeaders = new Set<string>();
  const names = new Set<string>();
  for (const [header, value] of Object.entries(headers)) {
    for (const name of secretNames(value)) {
      const allow = Object.hasOwn(secretHosts, name) ? (secretHosts[name] ?? []) : [];
      if (!isHostAllowed({ allow }, url.hostname, port)) {
        const message = `the secret ${name} is not to be sent to ${url.host}; its hosts are set by http.secret_hosts`;
        throw new ForgeError(ErrorCode.SANDBOX_VIOLATION, message, { reason: "SECRET_REFUSED", origin: "tool" });
      }
      names.add(name);
      secretHeaders.add(header.toLowerCase());
    }
  }
  const sorted = [...names].sort();
  const withSecrets = sorted.length === 0 ? "" : ` with ${sorted.length === 1 ? "the secret" : "the secrets"} ${cutText(sorted.join(", "), 40)}`;
  const digest = createHash("sha256")
    .update(JSON.stringify({ url: url.href, method, headers, body }))
    .digest("hex");
  return {
    request: { method, url, headers, body },
    secretHeaders,
    factsJson: JSON.stringify({ request: digest }),
    ruleKey: cutText(`http:${method} ${url.origin} ${sorted.join(",")}`, 512),
    ruleTitle: `${method} ${cutText(url.origin, 180)}${withSecrets}`,
    withSecrets,
  };
}

function requireHeader(name: string, value: string): void {
  if (REFUSED_HEADERS.test(name)) throw ForgeError.validation("arguments.headers", `the header ${name} can't be set`, { origin: "tool" });
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  } catch {
    throw ForgeError.validation("arguments.headers", `${JSON.stringify(cutText(name, 64))} is no header, or its value is none`, { origin: "tool" });
  }
}

function output({ url, status, headers, body, isCut }: HttpAnswer, scrub: (text: string) => string): JsonValue {
  const shown = Object.fromEntries(
    Object.entries(headers)
      .slice(0, HEADERS_SHOWN_MAX)
      .map(([name, value]) => [name, scrub(cutText(value, HEADER_LENGTH_MAX))]),
  );
  return { status, url: scrub(url.href), headers: shown, ...content(headers["content-type"] ?? "", body, isCut, scrub), truncated: isCut };
}

function content(type: string, body: Buffer, isCut: boolean, scrub: (text: string) => string): { [key: string]: JsonValue } {
  const text = decodeText(body, isCut);
  if (text === undefined) {
    const found = body.toString("base64");
    return { base64: scrub(found) };
  }
  const scrubbed = scrub(text);
  if (!isCut && /^application\/(?:.*\+)?json\b/i.test(type)) {
    try {
      return { json: JSON.parse(scrubbed) as JsonValue };
    } catch {
      // Says it is JSON and is none: shown as it is.
    }
  }
  return { text: scrubbed };
}

/** As UTF-8; undefined for what is none. Cut content may end within a character. */
function decodeText(body: Buffer, isCut: boolean): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body, { stream: isCut });
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
