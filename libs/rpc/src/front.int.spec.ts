import { once } from "node:events";
import http2 from "node:http2";
import net from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Front } from "./front.ts";

let front: Front;
let port: number;

async function start(options: Partial<ConstructorParameters<typeof Front>[1]> = {}): Promise<void> {
  front = new Front((request, response) => response.end(`${request.method} ${request.url} over ${request.httpVersion}`), {
    prefaceMs: 10_000,
    headersMs: 10_000,
    connectionsMax: 100,
    ...options,
  });
  front.server.listen(0, "127.0.0.1");
  await once(front.server, "listening");
  port = (front.server.address() as net.AddressInfo).port;
}

beforeEach(() => start());
afterEach(() => front.close());

/** A connection that sends pieces, each after the one before has arrived, and what comes back until it is closed. */
async function exchange(...pieces: (string | Buffer)[]): Promise<string> {
  const socket = net.connect(port, "127.0.0.1");
  const answer: Buffer[] = [];
  socket.on("data", (data: Buffer) => answer.push(data));
  // A reset is one way to be closed.
  socket.on("error", () => undefined);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  socket.setNoDelay(true);
  for (const piece of pieces) await new Promise<void>((resolve) => socket.write(piece, () => setImmediate(resolve)));
  await closed;
  return Buffer.concat(answer).toString("latin1");
}

function cut(bytes: Buffer): Buffer[] {
  return [...bytes].map((byte) => Buffer.from([byte]));
}

function getOverHttp2(path: string): Promise<string> {
  const session = http2.connect(`http://127.0.0.1:${port}`);
  const stream = session.request({ ":path": path });
  return (async () => {
    const answer: Buffer[] = [];
    for await (const data of stream) answer.push(data as Buffer);
    session.close();
    return Buffer.concat(answer).toString();
  })();
}

describe("a connection of HTTP/2", () => {
  it("stays, though its client gives up thousands of calls, as one does that follows many short runs", async () => {
    await front.close();
    front = new Front((_, response) => void (response as http2.Http2ServerResponse).writeHead(200).write("begun"), {
      prefaceMs: 10_000,
      headersMs: 10_000,
      connectionsMax: 100,
    });
    front.server.listen(0, "127.0.0.1");
    await once(front.server, "listening");
    port = (front.server.address() as net.AddressInfo).port;
    const session = http2.connect(`http://127.0.0.1:${port}`);
    let broken: unknown;
    session.on("error", (error) => {
      broken = error;
    });
    for (let round = 0; round < 30 && !session.destroyed; round++) {
      await Promise.all(
        Array.from({ length: 100 }, async () => {
          const stream = session.request({ ":path": "/" });
          stream.on("error", () => undefined);
          stream.once("response", () => stream.close(http2.constants.NGHTTP2_CANCEL));
          await once(stream, "close");
        }),
      );
    }
    expect(broken).toBeUndefined();
    expect(session.destroyed).toBe(false);
    session.destroy();
  });
});

describe("one port", () => {
  it("speaks HTTP/1.1 and HTTP/2, also on connections that are open at the same time", async () => {
    const answers = await Promise.all([fetch(`http://127.0.0.1:${port}/a`).then((response) => response.text()), getOverHttp2("/b"), getOverHttp2("/c")]);
    expect(answers).toEqual(["GET /a over 1.1", "GET /b over 2.0", "GET /c over 2.0"]);
  });

  it("tells them apart however their first bytes are cut", async () => {
    expect(await exchange(...cut(Buffer.from("PROPFIND /d HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")))).toContain("PROPFIND /d over 1.1");
    // A whole preface and empty settings, byte by byte: the server's settings come back.
    const preface = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]);
    const goAway = Buffer.from([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect((await exchange(...cut(preface), goAway)).charCodeAt(3)).toBe(4);
  });
});

/** So short that a test can wait for it, and long enough for a client on a busy machine. */
const IMPATIENT = { prefaceMs: 500, headersMs: 500 };

describe("a connection", () => {
  it.each([
    ["says nothing", []],
    ["says only a part of the preface", ["PRI * HT"]],
    ["never ends its headers", ["GET / HTTP/1.1\r\nhost: "]],
  ])("that %s is closed after a while", { timeout: 10_000 }, async (_, pieces) => {
    await front.close();
    await start(IMPATIENT);
    expect(await exchange(...pieces)).toMatch(/^(?:HTTP\/1.1 408 .*\r\n[\s\S]*)?$/);
  });

  it.each([
    ["no HTTP at all", ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"]],
    ["a line of rubbish", ["PRI * HTTP/1.0\r\n\r\n"]],
    ["rubbish after the preface", ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "x".repeat(100)]],
    ["headers without end", ["GET / HTTP/1.1\r\nx: ", "y".repeat(100_000)]],
  ])("with %s is closed, and others go on", async (_, pieces) => {
    await front.close();
    await start(IMPATIENT);
    const other = http2.connect(`http://127.0.0.1:${port}`);
    await once(other, "connect");
    await exchange(...pieces);
    expect(other.destroyed).toBe(false);
    other.close();
    expect(await getOverHttp2("/after")).toBe("GET /after over 2.0");
  });

  it("that is reset before it has said anything hurts nobody", async () => {
    for (let count = 0; count < 5; count++) {
      const socket = net.connect(port, "127.0.0.1");
      await once(socket, "connect");
      socket.resetAndDestroy();
    }
    expect(await getOverHttp2("/after")).toBe("GET /after over 2.0");
  });

  it("beyond the number that may be open is closed at once", async () => {
    await front.close();
    await start({ connectionsMax: 1 });
    const first = net.connect(port, "127.0.0.1");
    await once(first, "connect");
    expect(await exchange()).toBe("");
    first.destroy();
  });
});

it("closing ends connections in every state", async () => {
  await front.close();
  await start();
  const states = ["", "PRI * HT", "GET / HTTP/1.1\r\nhost: ", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"].map((text) => exchange(text));
  await getOverHttp2("/between");
  await front.close();
  expect(await Promise.all(states)).toHaveLength(4);
});
