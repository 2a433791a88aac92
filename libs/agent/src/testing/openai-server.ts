import { startWireServer, type WireServer } from "./wire-server.ts";

/** A server that speaks OpenAI's chat completions by script; its base URL ends in `/v1`. */
export type OpenAiServer = WireServer;

/** Starts the server on a free port of the loopback interface. */
export function startOpenAiServer(): Promise<OpenAiServer> {
  return startWireServer("/v1");
}
