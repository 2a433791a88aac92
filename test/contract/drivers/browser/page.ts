import { base64Decode, base64Encode } from "@bufbuild/protobuf/wire";
import { createWebClient } from "@forge/client/web";
import { DriverServer } from "../typescript/serve.ts";
import { methodsOf } from "../typescript/services.ts";

// What runs in the page: the driver of one client. The bridge hands requests in and takes responses out, as base64, which is what its protocol to the browser carries.

/** What the bridge calls. */
export interface PageDriver {
  handle(request: string): void;
  /** All responses since the last time; waits for the first. To take one at a time would cost more than to make it. */
  take(): Promise<string[]>;
  /** Resolves when nothing is under way and every response has been taken. */
  idle(): Promise<void>;
}

let responses: string[] = [];
let arrived = Promise.withResolvers<void>();
let taken = Promise.withResolvers<void>();
const underWay = new Set<Promise<void>>();
const server = new DriverServer({
  implementation: "browser",
  language: "TypeScript in Chromium",
  methods: methodsOf("browser"),
  openClient: async ({ url, token, namespace }) => createWebClient({ url, token, namespace: namespace === "" ? undefined : namespace }),
  send: (response) => {
    responses.push(base64Encode(response));
    arrived.resolve();
  },
});
const driver: PageDriver = {
  handle: (request) => {
    const done = server.handle(base64Decode(request)).finally(() => underWay.delete(done));
    underWay.add(done);
  },
  take: async () => {
    await arrived.promise;
    const batch = responses;
    responses = [];
    arrived = Promise.withResolvers();
    taken.resolve();
    taken = Promise.withResolvers();
    return batch;
  },
  idle: async () => {
    await Promise.all(underWay);
    while (responses.length > 0) await taken.promise;
  },
};
Object.assign(globalThis, { forgePageDriver: driver });
