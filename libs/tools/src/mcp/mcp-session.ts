import {
  type AuthProvider,
  Client,
  type FetchLike,
  type OAuthClientProvider,
  type RequestOptions,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import type { ListedTool } from "./mcp-catalogue.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** What an answer may have at most: a larger one ends the connection. */
const MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
const CONNECT_MS_MAX = 30_000;
const LIST_MS_MAX = 10_000;
/** How long a server may take to say which protocol it speaks before it is taken for an older one. */
const PROBE_MS_MAX = 10_000;
const LIST_PAGES_MAX = 32;

/** Where a server is, with everything expanded. */
export type McpEndpoint =
  | { readonly kind: "stdio"; readonly command: readonly string[]; readonly cwd: string; readonly environment: Readonly<Record<string, string>> }
  | {
      readonly kind: "http";
      readonly url: URL;
      readonly headers: Readonly<Record<string, string>>;
      readonly authProvider?: AuthProvider | OAuthClientProvider;
    };

/** A connection to a server. */
export interface McpSession {
  readonly client: Client;
  /** Of the protocol before 2026: questions come as requests of the server's own, while a call waits. */
  readonly isLegacy: boolean;
  /** Resolves, with why, for people, when it has ended. */
  readonly ended: Promise<string>;
  list(signal?: AbortSignal): Promise<ListedTool[]>;
  close(): Promise<void>;
}

/** Connects. `onListChanged` is called when the server says that its tools are others now. Rejects with the SDK's errors. */
export async function openSession(endpoint: McpEndpoint, options: { readonly onListChanged: () => void; readonly signal: AbortSignal }): Promise<McpSession> {
  try {
    return await connect(endpoint, options, false);
  } catch (error) {
    // Some older programs end at any request that comes before they were initialized.
    if (endpoint.kind === "http" || options.signal.aborted) throw error;
    return await connect(endpoint, options, true);
  }
}

async function connect(
  endpoint: McpEndpoint,
  { onListChanged, signal }: { readonly onListChanged: () => void; readonly signal: AbortSignal },
  isKnownLegacy: boolean,
): Promise<McpSession> {
  const client = new Client(
    { name: "forge", version: "0.1.0" },
    {
      capabilities: { elicitation: { form: {}, url: {} } },
      versionNegotiation: { mode: "auto", probe: { timeoutMs: PROBE_MS_MAX } },
      inputRequired: { autoFulfill: false },
      listChanged: { tools: { autoRefresh: false, debounceMs: 50, onChanged: onListChanged } },
      listMaxPages: LIST_PAGES_MAX,
    },
  );
  const ended = Promise.withResolvers<string>();
  const transport = transportOf(endpoint, (reason) => {
    ended.resolve(reason);
    void client.close();
  });
  const callbacks: Pick<Client, "onclose" | "onerror"> = {
    onclose: () => ended.resolve((transport instanceof StdioTransport ? transport.ending : "") || "the connection ended"),
    // What is no answer to anything is nobody's error; an answer that is missing ends at its time limit.
    onerror: () => {},
  };
  Object.assign(client, callbacks);
  try {
    await client.connect(transport, { timeout: CONNECT_MS_MAX, signal, ...(isKnownLegacy ? { prior: { kind: "legacy" } } : {}) });
  } catch (error) {
    await transport.close().catch(() => {});
    const ending = transport instanceof StdioTransport ? transport.ending : "";
    throw ending === "" ? error : new Error(`${(error as Error).message}; ${ending}`, { cause: error });
  }
  return {
    client,
    isLegacy: client.getProtocolEra() !== "modern",
    ended: ended.promise,
    async list(listSignal) {
      const options: RequestOptions & { readonly cacheMode: "refresh" } = { timeout: LIST_MS_MAX, signal: listSignal, cacheMode: "refresh" };
      return (await client.listTools(undefined, options)).tools;
    },
    close: () => client.close(),
  };
}

function transportOf(endpoint: McpEndpoint, onTooLarge: (reason: string) => void): Transport {
  if (endpoint.kind === "stdio") return new StdioTransport({ ...endpoint, messageBytesMax: MESSAGE_BYTES_MAX });
  const { url, headers, authProvider } = endpoint;
  return new StreamableHTTPClientTransport(url, { requestInit: { headers: { ...headers } }, authProvider, fetch: boundedFetch(onTooLarge) });
}

/** Ends the connection where the answer to one request grows beyond all bounds. */
function boundedFetch(onTooLarge: (reason: string) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (init?.method !== "POST" || response.body === null) return response;
    let bytes = 0;
    const bounded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          if (bytes <= MESSAGE_BYTES_MAX) {
            controller.enqueue(chunk);
            return;
          }
          controller.terminate();
          onTooLarge(`it answered with more than ${MESSAGE_BYTES_MAX} bytes`);
        },
      }),
    );
    return new Response(bounded, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}
