import { readFile } from "node:fs/promises";
import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type DriverRequest, DriverRequestSchema, DriverResponseSchema } from "@forge/protocol/contract";
import { chromium } from "playwright-core";
import { readFrames, toFrame } from "../../suite/frames.ts";
import { methodsOf } from "../typescript/services.ts";
import { type ClientPage, ClientPages } from "./client-pages.ts";

// The browser driver's bridge: main.ts <chromium> <page.js>. Every client is a page of its own, on the server's origin; its requests and responses pass through here
// unread but for whom they are for.

/** As many clients as the suite has open at a time, most of the time. */
const PAGES_WARM = 8;

const [executablePath = "", script = ""] = process.argv.slice(2);
// As root there is no sandbox to be had, and the pages are ours. What a browser asks of its maker by itself would find nobody.
const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const browser = await chromium.launch({ executablePath, args, handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false });
const pages = new ClientPages(browser, await readFile(script, "utf8"), (response) => process.stdout.write(toFrame(response)));
await pages.warm(PAGES_WARM);
/** The page of each client, and of each call and stream, which are never many in one run. */
const pageOf = new Map<bigint, Promise<ClientPage>>();

function target({ id, kind }: DriverRequest): Promise<ClientPage> {
  if (kind.case === "openClient") {
    const page = pages.open(new URL(kind.value.url).origin);
    pageOf.set(id, page);
    return page;
  }
  const owner =
    kind.case === "call" || kind.case === "openStream" || kind.case === "closeClient"
      ? kind.value.client
      : kind.case === "pull"
        ? kind.value.stream
        : kind.case === "cancel"
          ? kind.value.target
          : 0n;
  const page = pageOf.get(owner);
  if (page === undefined) throw new Error(`there is no client, call or stream ${owner}`);
  if (kind.case === "call" || kind.case === "openStream") pageOf.set(id, page);
  return page;
}

async function handle(request: DriverRequest, frame: Uint8Array): Promise<void> {
  const { id, kind } = request;
  if (kind.case === "describe") {
    const description = { implementation: "browser", language: "TypeScript in Chromium", methods: [...methodsOf("browser").keys()] };
    answer(id, { case: "description", value: description });
    return;
  }
  const page = await target(request);
  await page.handle(frame);
  if (kind.case === "closeClient") await pages.giveBack(page);
}

function answer(id: bigint, kind: MessageInitShape<typeof DriverResponseSchema>["kind"]): void {
  process.stdout.write(toFrame(toBinary(DriverResponseSchema, create(DriverResponseSchema, { id, kind }))));
}

for await (const frame of readFrames(process.stdin)) {
  const request = fromBinary(DriverRequestSchema, frame);
  handle(request, frame).catch((error: unknown) => {
    answer(request.id, { case: "failure", value: { message: error instanceof Error ? error.message : String(error) } });
  });
}
await browser.close();
process.exit(0);
