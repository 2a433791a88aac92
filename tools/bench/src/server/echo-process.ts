import { readFile } from "node:fs/promises";
import { startEchoServer } from "./echo-server.ts";
import { configOf, serve } from "./entry.ts";
import type { EchoConfig, EchoReady, RecordedAnswers } from "./messages.ts";

// The echo service that Forge's clients are compared with, in a process of its own as Forge is.

const { snapshot, events } = JSON.parse(await readFile(configOf<EchoConfig>().answers, "utf8")) as RecordedAnswers;
const bytes = (base64: string): Uint8Array => Buffer.from(base64, "base64");
const echo = await startEchoServer({ snapshot: bytes(snapshot), events: events.map(bytes) });
const ready: EchoReady = { type: "ready", http1Url: echo.http1Url, http2Url: echo.http2Url };
serve(ready, { stop: () => echo.close() });
