import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { createTestServer } from "./mcp-program.ts";

/** An HTTP server for tests, with its own authorization server where it asks for logins. */
export interface McpHttp {
  readonly url: string;
  /** Tokens that are taken. */
  readonly tokens: Set<string>;
  /** Bodies of requests for tokens. */
  readonly grants: URLSearchParams[];
  registrations: number;
  setState(state: string): void;
  announce(): void;
  close(): Promise<void>;
}

/** Serves the test server over Streamable HTTP; `port` 0: any free one. With `isProtected`, only to who presents a token of `tokens`, or of a login. */
export async function startMcpHttp({ port = 0, isProtected = false } = {}): Promise<McpHttp> {
  let state = "";
  const handler = createMcpHandler(() => createTestServer({ isLegacy: false, state: () => state }));
  const tokens = new Set<string>();
  const grants: URLSearchParams[] = [];
  const codes = new Map<string, { readonly challenge: string; readonly redirectUri: string }>();
  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const closed = new AbortController();
    outgoing.once("close", () => closed.abort());
    const request = await requestOf(incoming, origin, closed.signal);
    const response = await answer(request, new URL(request.url), origin);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    if (response.body === null) {
      outgoing.end();
      return;
    }
    for await (const chunk of response.body) if (!outgoing.write(chunk)) await Promise.race([once(outgoing, "drain"), once(outgoing, "close")]);
    outgoing.end();
  };
  const server: Server = createServer((incoming, outgoing) => void serve(incoming, outgoing));

  async function answer(request: Request, url: URL, origin: string): Promise<Response> {
    if (url.pathname === "/.well-known/oauth-protected-resource/mcp") return Response.json({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (url.pathname === "/.well-known/oauth-authorization-server") {
      return Response.json({
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
      });
    }
    if (url.pathname === "/register") {
      http.registrations++;
      return Response.json({ ...((await request.json()) as object), client_id: randomUUID() }, { status: 201 });
    }
    if (url.pathname === "/authorize") {
      const code = randomUUID();
      const redirectUri = url.searchParams.get("redirect_uri") as string;
      codes.set(code, { challenge: url.searchParams.get("code_challenge") as string, redirectUri });
      const back = new URL(redirectUri);
      back.searchParams.set("code", code);
      back.searchParams.set("state", url.searchParams.get("state") as string);
      return Response.redirect(back.href, 302);
    }
    if (url.pathname === "/token") return token(new URLSearchParams(await request.text()));
    if (url.pathname !== "/mcp") return new Response(null, { status: 404 });
    const presented = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
    if (isProtected && (presented === undefined || !tokens.has(presented))) {
      const challenge = `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      return new Response(null, { status: 401, headers: { "www-authenticate": challenge } });
    }
    return handler.fetch(request);
  }

  function token(grant: URLSearchParams): Response {
    grants.push(grant);
    const code = codes.get(grant.get("code") ?? "");
    const proven =
      code !== undefined &&
      createHash("sha256")
        .update(grant.get("code_verifier") ?? "")
        .digest("base64url") === code.challenge;
    if (grant.get("grant_type") !== "refresh_token" && !(proven && grant.get("redirect_uri") === code.redirectUri)) {
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    const issued = randomUUID();
    tokens.add(issued);
    return Response.json({ access_token: issued, token_type: "Bearer", expires_in: 3600, refresh_token: `refresh-${issued}` });
  }

  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const http: McpHttp = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    tokens,
    grants,
    registrations: 0,
    setState: (next) => {
      state = next;
    },
    announce: () => handler.notify.toolsChanged(),
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return http;
}

async function requestOf(incoming: IncomingMessage, origin: string, signal: AbortSignal): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const headers = new Headers(Object.entries(incoming.headers).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  const hasBody = incoming.method !== "GET" && incoming.method !== "HEAD";
  return new Request(new URL(incoming.url ?? "/", origin), { method: incoming.method, headers, body: hasBody ? Buffer.concat(chunks) : undefined, signal });
}

function once(emitter: NodeJS.EventEmitter, event: string): Promise<void> {
  return new Promise((resolve) => emitter.once(event, () => resolve()));
}
