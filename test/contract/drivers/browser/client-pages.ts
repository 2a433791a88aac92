import type { Browser, Page } from "playwright-core";
import type { PageDriver } from "./page.ts";

/** What the page's script leaves for us. */
interface PageGlobals {
  readonly forgePageDriver: PageDriver;
}

type Send = (response: Uint8Array) => void;

/** A page that serves one client at a time. */
export class ClientPage {
  readonly #page: Page;
  readonly #send: Send;
  #origin: string | undefined;

  constructor(page: Page, send: Send) {
    this.#page = page;
    this.#send = send;
  }

  /** Where its script runs; undefined where it runs nowhere yet. */
  get origin(): string | undefined {
    return this.#origin;
  }

  /** Goes to a server's origin and runs the script there. */
  async enter(origin: string, script: string): Promise<void> {
    this.#origin = origin;
    // The server has no pages yet: this one comes from here, on its origin. Everything else goes to the server.
    await this.#page.route(`${origin}/`, (route) => route.fulfill({ contentType: "text/html", body: '<!doctype html><link rel="icon" href="data:,">' }));
    await this.#page.goto(`${origin}/`);
    await this.#page.unrouteAll();
    await this.#page.addScriptTag({ content: script });
    void this.#takeResponses();
  }

  /** Hands a request to the driver in the page; its responses come by themselves. */
  async handle(request: Uint8Array): Promise<void> {
    await this.#page.evaluate((text) => (globalThis as unknown as PageGlobals).forgePageDriver.handle(text), Buffer.from(request).toString("base64"));
  }

  /** Resolves when all that it was asked is done. */
  async idle(): Promise<void> {
    await this.#page.evaluate(() => (globalThis as unknown as PageGlobals).forgePageDriver.idle());
  }

  async #takeResponses(): Promise<void> {
    for (;;) {
      const batch = await this.#page
        .evaluate(() => (globalThis as unknown as PageGlobals).forgePageDriver.take())
        // The page has gone to another origin, or is closed.
        .catch(() => undefined);
      if (batch === undefined) return;
      for (const response of batch) this.#send(Buffer.from(response, "base64"));
    }
  }
}

/**
 * Pages on servers' origins. Each has a browser context of its own, since a context opens six connections to a server, of which each subscription keeps one. A page
 * whose client is closed serves the next one, where it is if it can: a new context costs a process, and so does the way to another origin.
 */
export class ClientPages {
  readonly #browser: Browser;
  readonly #script: string;
  readonly #send: Send;
  readonly #idle: ClientPage[] = [];

  constructor(browser: Browser, script: string, send: Send) {
    this.#browser = browser;
    this.#script = script;
    this.#send = send;
  }

  /** Makes pages for clients to come: on a busy machine a process takes longer to start than a client may take to open. */
  async warm(count: number): Promise<void> {
    this.#idle.push(...(await Promise.all(Array.from({ length: count }, () => this.#make()))));
  }

  async open(origin: string): Promise<ClientPage> {
    const there = this.#idle.findIndex((page) => page.origin === origin);
    // The one that nobody has wanted for the longest time, where none is there.
    const [page = await this.#make()] = this.#idle.splice(Math.max(0, there), 1);
    if (there === -1) await page.enter(origin, this.#script);
    return page;
  }

  async giveBack(page: ClientPage): Promise<void> {
    await page.idle();
    this.#idle.push(page);
  }

  async #make(): Promise<ClientPage> {
    const context = await this.#browser.newContext();
    return new ClientPage(await context.newPage(), this.#send);
  }
}
