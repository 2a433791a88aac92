import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { startProjectServer } from "@forge/host";
import { ErrorCode } from "@forge/protocol/common";
import pino from "pino";
import { type Browser, chromium } from "playwright-core";
import { expect, it } from "vitest";
import { bundlePage } from "../contract/drivers/browser/bundle-page.ts";
import { findBrowser } from "../contract/drivers/browser/implementations.ts";
import type { PageResult } from "./other-origin-page.ts";

/** A server of pages, which knows nothing of Forge. Answers its origin. */
async function servePages(cleanup: AsyncDisposableStack, script: string): Promise<string> {
  const server = createServer(({ url }, response) => {
    response.setHeader("content-type", url === "/page.js" ? "text/javascript" : "text/html");
    response.end(url === "/page.js" ? script : '<!doctype html><link rel="icon" href="data:,"><script src="/page.js"></script>');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanup.defer(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function inPage(browser: Browser, origin: string, { url, token }: { readonly url: string; readonly token: string }): Promise<PageResult> {
  const page = await browser.newPage();
  try {
    await page.goto(`${origin}/`);
    return await page.evaluate(
      ([toUrl, asToken]) => (globalThis as unknown as { runTurn(url: string, token: string): Promise<PageResult> }).runTurn(toUrl as string, asToken as string),
      [url, token],
    );
  } finally {
    await page.close();
  }
}

it("a page of an origin that is named runs a turn in a browser, and one of another is kept out", async (context) => {
  const executablePath = await findBrowser();
  if (executablePath === undefined && !process.env.CI) return context.skip("Chromium is not installed");
  if (executablePath === undefined) throw new Error("Chromium is not installed, which is needed where CI is set");
  await using cleanup = new AsyncDisposableStack();
  const script = await readFile(await bundlePage(path.join(import.meta.dirname, "other-origin-page.ts")), "utf8");
  const [named, strange] = [await servePages(cleanup, script), await servePages(cleanup, script)];
  const root = await mkdtemp(path.join(tmpdir(), "forge-origin-"));
  cleanup.defer(() => rm(root, { recursive: true, force: true }));
  const server = await startProjectServer({ root, environment: {}, logger: pino({ level: "silent" }), origins: [named] });
  cleanup.defer(() => server.close(0));
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"] });
  cleanup.defer(() => browser.close());

  const { kinds, refusal } = await inPage(browser, named, server);
  expect(kinds[0]).toBe("session.created");
  expect(kinds.at(-1)).toBe("turn.completed");
  expect(refusal).toBe(ErrorCode.NOT_FOUND);

  // Not even what it is refused for is told to a page that may not read.
  await expect(inPage(browser, strange, server)).rejects.toThrow(/Failed to fetch|TRANSPORT|fetch/);
  expect((await server.client.session.listSessions({})).sessions).toHaveLength(1);
});
