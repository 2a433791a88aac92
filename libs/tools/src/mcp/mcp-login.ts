import { randomBytes } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { OAuthClientProvider, OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { clientMetadata, type McpTokens } from "./mcp-tokens.ts";

/** How a login goes. */
export interface McpLoginOptions {
  /** As the configuration names it. */
  readonly server: string;
  readonly url: URL;
  readonly tokens: McpTokens;
  /** Shows the person where to log in, best by opening a browser. */
  readonly open: (url: URL) => void | Promise<void>;
  readonly signal?: AbortSignal;
  /** How long the person may take; absent: 5 min. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS_DEFAULT = 300_000;

/**
 * Logs in to an HTTP server by OAuth: with a browser, PKCE, and an answer to a port of this machine. Resolves once the login is kept. Errors: unauthenticated
 * MCP_LOGIN_FAILED, deadline_exceeded, cancelled by the signal's reason.
 */
export async function loginMcpServer({ server, url, tokens, open, signal, timeoutMs = TIMEOUT_MS_DEFAULT }: McpLoginOptions): Promise<void> {
  const { auth } = await import("@modelcontextprotocol/client");
  const state = randomBytes(32).toString("base64url");
  await using callback = await listen(state);
  let client: StoredOAuthClientInformation | undefined;
  let saved: StoredOAuthTokens | undefined;
  let verifier = "";
  let discovery: OAuthDiscoveryState | undefined;
  const provider: OAuthClientProvider = {
    redirectUrl: callback.url,
    clientMetadata: clientMetadata(callback.url),
    state: () => state,
    // Registered anew: the answer comes to another port each time.
    clientInformation: () => client,
    saveClientInformation: (information) => {
      client = information;
    },
    tokens: () => undefined,
    saveTokens: (received) => {
      saved = received;
    },
    redirectToAuthorization: open,
    saveCodeVerifier: (code) => {
      verifier = code;
    },
    codeVerifier: () => verifier,
    // The answer is then taken to the authorization server that it was asked of.
    saveDiscoveryState: (found) => {
      discovery = found;
    },
    discoveryState: () => discovery,
  };
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    if ((await auth(provider, { serverUrl: url })) === "REDIRECT") {
      const { code, iss } = await callback.answer(AbortSignal.any([timeout, ...(signal === undefined ? [] : [signal])]));
      await auth(provider, { serverUrl: url, authorizationCode: code, iss });
    }
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (timeout.aborted) {
      throw new ForgeError(ErrorCode.DEADLINE_EXCEEDED, `nobody logged in to the MCP server ${server} within ${timeoutMs / 1000} s`, {
        reason: "MCP_LOGIN_FAILED",
        origin: "client",
      });
    }
    throw loginFailed(server, error instanceof Error ? error.message : String(error), error);
  }
  if (client === undefined || saved === undefined) throw loginFailed(server, "it gave no token");
  await tokens.save(url, { client, tokens: saved, redirectUrl: callback.url });
}

interface Callback extends AsyncDisposable {
  readonly url: string;
  answer(signal: AbortSignal): Promise<{ readonly code: string; readonly iss?: string }>;
}

/** Listens, on this machine only, for the one answer that carries the state. */
async function listen(state: string): Promise<Callback> {
  const answered = Promise.withResolvers<{ readonly code: string; readonly iss?: string }>();
  answered.promise.catch(() => {});
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://127.0.0.1");
    if (pathname !== "/callback" || searchParams.get("state") !== state) {
      end(response, 404, "Nothing is waited for here.");
      return;
    }
    const code = searchParams.get("code");
    if (code === null) {
      end(response, 400, "The login was refused. You can close this page.");
      answered.reject(new Error(searchParams.get("error_description") ?? searchParams.get("error") ?? "the answer has no code"));
      return;
    }
    end(response, 200, "You are logged in. You can close this page.");
    answered.resolve({ code, iss: searchParams.get("iss") ?? undefined });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    async answer(signal) {
      const aborted = Promise.withResolvers<never>();
      const onAbort = (): void => aborted.reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      try {
        signal.throwIfAborted();
        return await Promise.race([answered.promise, aborted.promise]);
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function end(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store", connection: "close" }).end(`${text}\n`);
}

function loginFailed(server: string, why: string, cause?: unknown): ForgeError {
  return new ForgeError(ErrorCode.UNAUTHENTICATED, `the login to the MCP server ${server} failed: ${why}`.slice(0, 4096), {
    reason: "MCP_LOGIN_FAILED",
    origin: "client",
    cause,
  });
}
