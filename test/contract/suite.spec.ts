import { Readable } from "node:stream";
import { createJsonLinesClient, type ForgeClient } from "@forge/client";
import { ErrorCode } from "@forge/protocol/common";
import { EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { KeptClients } from "./drivers/typescript/kept-clients.ts";
import { Driver } from "./suite/driver.ts";
import { DriverFailure } from "./suite/driver-failure.ts";
import { expectKept } from "./suite/expect-kept.ts";
import { readFrames, toFrame } from "./suite/frames.ts";
import { readKnownFailing } from "./suite/known-failing.ts";
import { SharedRestart } from "./suite/shared-restart.ts";
import { contractPage, type Mark } from "./suite/table.ts";
import { Trace } from "./suite/trace.ts";

const { getSessionSnapshot } = SessionService.method;
const { subscribeEvents } = EventService.method;

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("frames", () => {
  const contents = [new Uint8Array(0), Uint8Array.of(1), new Uint8Array(70_000).fill(7)];
  const bytes = Buffer.concat(contents.map(toFrame));

  it.each([1, 3, 5, 4096, bytes.length])("come back from chunks of %i bytes", async (size) => {
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
    expect(await collect(readFrames(Readable.from(chunks)))).toEqual(contents);
  });

  it("that are cut short or too long are errors", async () => {
    await expect(collect(readFrames(Readable.from([bytes.subarray(0, -1)])))).rejects.toThrow("cut short");
    await expect(collect(readFrames(Readable.from([Buffer.of(0xff, 0, 0, 0)])))).rejects.toThrow("at most");
  });
});

describe("what is known to fail", () => {
  const read = (text: string) => readKnownFailing(text, "known-failing.txt", ["python", "python-async"], new Set(["a promise"]));

  it("is a scenario with its reason, of all implementations of the driver or of one", () => {
    expect(read("# why\n\na promise | not built\npython | a promise | too old\n")).toEqual([
      { implementation: undefined, scenario: "a promise", reason: "not built" },
      { implementation: "python", scenario: "a promise", reason: "too old" },
    ]);
  });

  it.each([
    ["a promise", "parts"],
    ["a promise | ", "no reason"],
    ["another | why", 'no scenario "another"'],
    ["go | a promise | why", 'no implementation "go"'],
  ])("is refused as %j", (line, why) => {
    expect(() => read(line)).toThrow(why);
  });

  it("fails when it passes, and passes while it fails", () => {
    const known = { scenario: "a promise", reason: "not built" };
    expect(() => expectKept({ trace: "" }, known, "known-failing.txt")).toThrow("take its line out of known-failing.txt");
    expectKept({ error: new Error("broken"), trace: "" }, known, "known-failing.txt");
    expectKept({ trace: "" }, undefined, "known-failing.txt");
    expect(() => expectKept({ error: new Error("broken"), trace: "> StartTurn" }, undefined, "known-failing.txt")).toThrow(/broken[^]*> StartTurn/);
  });
});

describe("a restart that cases share", () => {
  it("happens once, when each case has come to it or has ended", async () => {
    const log: string[] = [];
    const restart = new SharedRestart(async () => void log.push("restart"));
    const [first, second, third] = [restart.enter(), restart.enter(), restart.enter()];
    const arrived = [first, second].map((ticket, index) => ticket.arrive().then(() => log.push(`case ${index}`)));
    await Promise.resolve();
    expect(log).toEqual([]);
    third.leave();
    await Promise.all(arrived);
    expect(log).toEqual(["restart", "case 0", "case 1"]);
  });

  it("is an error of every case that waits for it", async () => {
    const restart = new SharedRestart(() => Promise.reject(new Error("the port is taken")));
    await expect(restart.enter().arrive()).rejects.toThrow("the port is taken");
  });
});

describe("a driver", () => {
  const drivers: Driver[] = [];
  afterEach(async () => {
    for (const driver of drivers.splice(0)) await driver.stop().catch(() => undefined);
  });

  /** A driver that describes itself, opens clients, and does with other requests what the code says: `id` and `kind` are the request's, `answer` answers. */
  async function start(code: string): Promise<Driver> {
    const here = import.meta.dirname;
    const program = `
      import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
      import { anyPack } from "@bufbuild/protobuf/wkt";
      import { DriverRequestSchema, DriverResponseSchema } from "@forge/protocol/contract";
      import { GetSessionSnapshotRequestSchema } from "@forge/protocol/session";
      import { readFrames, toFrame } from "${here}/suite/frames.ts";
      const answer = (id, kind) => process.stdout.write(toFrame(toBinary(DriverResponseSchema, create(DriverResponseSchema, { id, kind }))));
      for await (const frame of readFrames(process.stdin)) {
        const { id, kind } = fromBinary(DriverRequestSchema, frame);
        if (kind.case === "describe") answer(id, { case: "description", value: { implementation: "fake" } });
        else if (kind.case === "openClient") answer(id, { case: "clientOpened", value: {} });
        else { ${code} }
      }`;
    const driver = await Driver.start({ command: process.execPath, args: ["--input-type=module", "--eval", program], cwd: here });
    drivers.push(driver);
    return driver;
  }

  const open = (driver: Driver) => driver.open({ url: "http://127.0.0.1:1", token: "t" }, new Trace());

  it("that dies fails every open call, with the end of its standard error, and can do nothing more", async () => {
    const driver = await start(`console.error("out of memory"); process.exit(7);`);
    const client = await open(driver);
    const calls = [client.call(getSessionSnapshot, {}), client.open(subscribeEvents, {}).next()];
    for (const call of calls) await expect(call).rejects.toThrow(/exit code 7[^]*out of memory/);
    expect(driver.lives).toBe(false);
    await expect(client.call(getSessionSnapshot, {})).rejects.toBeInstanceOf(DriverFailure);
  });

  it("that could not do it fails the case; an error of the call is an outcome", async () => {
    const client = await open(
      await start(`
        if (kind.value.retry) answer(id, { case: "failure", value: { message: "no such method" } });
        else answer(id, { case: "call", value: { kind: { case: "error", value: { code: ${ErrorCode.NOT_FOUND}, reason: "GONE" } } } });`),
    );
    expect((await client.call(getSessionSnapshot, {})).error).toMatchObject({ code: ErrorCode.NOT_FOUND, reason: "GONE" });
    await expect(client.call(getSessionSnapshot, {}, { retry: true })).rejects.toThrow("no such method");
  });

  it("that answers with another message fails the case", async () => {
    const other = "anyPack(GetSessionSnapshotRequestSchema, create(GetSessionSnapshotRequestSchema))";
    const client = await open(await start(`answer(id, { case: "call", value: { kind: { case: "response", value: ${other} } } });`));
    await expect(client.call(getSessionSnapshot, {})).rejects.toThrow("where forge.session.v1.GetSessionSnapshotResponse belongs");
  });

  it("that reads further than it was asked to fails the case", async () => {
    const client = await open(await start(`answer(id, { case: "streamItem", value: {} });`));
    await expect(client.open(subscribeEvents, {}, { ahead: 0 }).next()).rejects.toThrow(DriverFailure);
  });

  it("that writes anything but frames is ended", async () => {
    const client = await open(await start(`process.stdout.write("hello, here is some text");`));
    await expect(client.call(getSessionSnapshot, {})).rejects.toThrow("no frames");
  });

  it("that does not start is a failure with the reason", async () => {
    await expect(Driver.start({ command: "/nowhere/forge-driver", args: [] })).rejects.toThrow("could not be started");
  });
});

describe("a client that is kept", () => {
  const kept = new KeptClients();
  const opened: ForgeClient[] = [];
  afterAll(async () => {
    for (const client of opened) await client.close();
    await kept.close();
  });

  /** Its process tells its id as the next page of a list, and never answers anything else. */
  const program = `
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (method === "SessionService.ListSessions") console.log(JSON.stringify({ id, result: { next_page_token: String(process.pid) } }));
    });`;
  const open = async (key: string): Promise<ForgeClient> => {
    const client = await kept.open(key, async () => createJsonLinesClient({ command: process.execPath, args: ["--eval", program] }));
    opened.push(client);
    return client;
  };
  const processOf = async (client: ForgeClient) => Number((await client.session.listSessions({})).nextPageToken);

  it("serves one at a time, and after it was closed the next one of its key", async () => {
    const [first, beside, another] = await Promise.all([open("one"), open("one"), open("another")]);
    const [process, ...others] = await Promise.all([first, beside, another].map(processOf));
    expect(others).not.toContain(process);
    await first.close();
    expect(await processOf(await open("another"))).not.toBe(process);
    expect(await processOf(await open("one"))).toBe(process);
  });

  it.each<[string, (client: ForgeClient) => Promise<unknown>]>([
    ["call", (client) => client.session.getSessionSnapshot({})],
    ["stream", (client) => client.event.subscribeEvents({})[Symbol.asyncIterator]().next()],
  ])("ends with its process where it is closed amid a %s", async (what, begin) => {
    const client = await open(what);
    const process = await processOf(client);
    await Promise.all([expect(begin(client)).rejects.toMatchObject({ code: ErrorCode.CANCELLED }), client.close()]);
    expect(await processOf(await open(what))).not.toBe(process);
  });
});

describe("the table", () => {
  it("has one sign where the topologies agree, both where they don't, and the reasons below", () => {
    const marks: Readonly<Record<string, readonly Mark[]>> = { a: ["passed", "passed"], b: ["lacks", "lacks"], c: ["passed", "known"] };
    const topologies = ["one", "two"];
    const page = contractPage({
      implementations: Object.keys(marks).map((name) => ({ name, language: "X" })),
      scenarios: [{ group: "Commands", name: "it is so" }],
      topologies,
      markOf: (topology, _, implementation) => marks[implementation]?.[topologies.indexOf(topology)],
      knownFailures: [{ implementation: "c", scenario: "it is so", reason: "two of them disagree" }],
      missingMethods: new Map([["b", ["forge.session.v1.SessionService/ForkSession"]]]),
    });
    expect(page).toContain("| it is so | ✓ | – | ✓ ✗ |");
    expect(page).toContain("- it is so: two of them disagree (`c`)");
    expect(page).toContain("- `b`: SessionService (ForkSession)");
  });
});
