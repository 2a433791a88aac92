import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { ForgeError } from "@forge/protocol";
import { type HostRules, isHostAllowed, isNamedHost } from "./host-rules.ts";
import { publicLookup, requirePublicHost } from "./network-address.ts";

/** At once, of all commands: more than package managers open, and few enough for descriptors. */
const CONNECTIONS_MAX = 256;
/** Until a connection stands, and while nothing goes either way. */
const CONNECT_TIMEOUT_MS = 15_000;
const IDLE_TIMEOUT_MS = 120_000;
/** Meaningful between one client and one proxy only. */
const HOP_HEADERS = ["connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer", "upgrade"];

/** A proxy on a Unix socket that lets commands reach the hosts that are allowed, by CONNECT and by plain HTTP, and nothing else. */
export interface DomainProxy {
  close(): Promise<void>;
}

/** What the proxy lets through. */
export interface ProxyRules extends HostRules {
  /** Hosts beside those, and of the public internet only, however they are named. */
  readonly publicHosts: readonly string[];
}

/** Listens on `socketPath`, in a directory that only this user can enter. `onRefused` is told the host of what is refused. */
export async function startDomainProxy(socketPath: string, rules: ProxyRules, onRefused: (host: string) => void = () => {}): Promise<DomainProxy> {
  const refuse = (host: string, error: unknown): string => {
    onRefused(host);
    return `${error instanceof ForgeError ? error.message : "the host can't be reached"}\n`;
  };
  const server: Server = createServer({ requestTimeout: 0, maxHeaderSize: 16 * 1024 }, (incoming, response) => {
    forward(incoming, response, rules, refuse);
  });
  const tunnels = new Set<Duplex>();
  server.maxConnections = CONNECTIONS_MAX;
  server.on("connect", (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    tunnels.add(client);
    client.once("close", () => tunnels.delete(client));
    tunnel(incoming.url ?? "", client, head, rules, refuse);
  });
  server.on("clientError", (_error, socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketPath, resolve);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
        for (const client of tunnels) client.destroy();
      }),
  };
}

type Refuse = (host: string, error: unknown) => string;

/** Throws where a host is not allowed. Answers how its name is to be looked up: one that the rules name may be anywhere. */
function lookupFor(rules: ProxyRules, host: string, port: number): { lookup?: typeof publicLookup } {
  const all = { ...rules, allow: [...rules.allow, ...rules.publicHosts] };
  if (!isHostAllowed(all, host, port)) throw ForgeError.validation("host", `${host}:${port} is not among the hosts that the sandbox's network allows`);
  if (isNamedHost(rules, host, port)) return {};
  requirePublicHost(host);
  return { lookup: publicLookup };
}

function tunnel(target: string, client: Duplex, head: Buffer, rules: ProxyRules, refuse: Refuse): void {
  client.on("error", () => client.destroy());
  const fail = (host: string, status: string, error: unknown): void => {
    const text = refuse(host, error);
    client.end(`HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`);
  };
  const [, host = "", portText = ""] = /^(\[[0-9a-f:.]+\]|[^:]+):(\d{1,5})$/i.exec(target) ?? [];
  let upstream: Socket;
  try {
    const port = Number(portText);
    upstream = connect({ host: host.replace(/^\[(.*)\]$/, "$1"), port, ...lookupFor(rules, host, port) });
  } catch (error) {
    fail(host || target, "403 Forbidden", error);
    return;
  }
  let isConnected = false;
  upstream.setTimeout(CONNECT_TIMEOUT_MS, () => upstream.destroy(new Error("nothing was sent for too long")));
  upstream.once("connect", () => {
    isConnected = true;
    upstream.setTimeout(IDLE_TIMEOUT_MS);
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    upstream.write(head);
    upstream.pipe(client);
    client.pipe(upstream);
  });
  upstream.on("error", (error) => {
    if (isConnected) client.destroy();
    else fail(host, error instanceof ForgeError ? "403 Forbidden" : "502 Bad Gateway", error);
  });
  upstream.once("close", () => client.end());
  client.once("close", () => upstream.destroy());
}

function forward(incoming: IncomingMessage, response: ServerResponse, rules: ProxyRules, refuse: Refuse): void {
  const fail = (host: string, status: number, error: unknown): void => {
    const text = refuse(host, error);
    if (response.headersSent) response.destroy();
    else response.writeHead(status, { "content-type": "text/plain", connection: "close" }).end(text);
  };
  const url = URL.canParse(incoming.url ?? "") ? new URL(incoming.url as string) : undefined;
  if (url === undefined || url.protocol !== "http:") {
    fail("", 400, ForgeError.validation("url", "the proxy takes http URLs, and CONNECT for the rest"));
    return;
  }
  const port = Number(url.port || 80);
  try {
    const headers = Object.fromEntries(Object.entries(incoming.headers).filter(([name]) => !HOP_HEADERS.includes(name)));
    const outgoing = request({
      host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
      port,
      method: incoming.method,
      path: url.pathname + url.search,
      // The host that was checked, whatever the client calls it.
      headers: { ...headers, host: url.host },
      timeout: IDLE_TIMEOUT_MS,
      agent: false,
      ...lookupFor(rules, url.hostname, port),
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("nothing was sent for too long")));
    outgoing.on("error", (error) => fail(url.hostname, error instanceof ForgeError ? 403 : 502, error));
    outgoing.on("response", (answer) => {
      const answered = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => !HOP_HEADERS.includes(name)));
      response.writeHead(answer.statusCode ?? 502, answered);
      answer.pipe(response);
      answer.on("error", () => response.destroy());
    });
    response.once("close", () => outgoing.destroy());
    incoming.pipe(outgoing);
  } catch (error) {
    fail(url.hostname, 403, error);
  }
}
