import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import { RiskLevel } from "@forge/protocol/tool";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createSecretSource } from "../secrets/secret-source.ts";
import { callTool, previewOf } from "../testing/tool-calls.ts";
import { type HttpOptions, httpTool } from "./http-tool.ts";

type Answer = (incoming: IncomingMessage, response: ServerResponse) => void;

let answer: Answer;
let seen: { method: string | undefined; url: string | undefined; headers: IncomingMessage["headers"]; body: string }[];
let port: number;
let close: () => Promise<void>;

async function serve(handle: Answer): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { port: (server.address() as AddressInfo).port, close: stop };
}

beforeEach(async () => {
  seen = [];
  answer = (_incoming, response) => response.end("ok");
  const receive = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    seen.push({ method: incoming.method, url: incoming.url, headers: incoming.headers, body: Buffer.concat(pieces).toString() });
    answer(incoming, response);
  };
  ({ port, close } = await serve((incoming, response) => void receive(incoming, response)));
});

afterEach(() => close());

const here = (path = "/"): string => `http://localhost:${port}${path}`;
/** Named in full, so that this machine may be asked. */
const tool = (options: Partial<HttpOptions> = {}) => httpTool({ hosts: { allow: [`localhost:${port}`, `127.0.0.1:${port}`] }, ...options });

describe("what is asked", () => {
  test("method, headers and body are sent as they are", async () => {
    const result = await callTool(tool(), { url: here("/a?b=c#d"), method: "POST", headers: { "X-One": "1", "content-type": "text/plain" }, body: "grüße" });
    expect(result).toMatchObject({ status: 200, text: "ok", truncated: false, url: here("/a?b=c") });
    expect(seen).toMatchObject([{ method: "POST", url: "/a?b=c", body: "grüße", headers: { "x-one": "1", host: `localhost:${port}` } }]);
  });

  test.each([
    [{ url: "file:///etc/passwd" }, "SCHEME_REFUSED"],
    [{ url: "ftp://example.org/" }, "SCHEME_REFUSED"],
    [{ url: "http://a:b@example.org/" }, "CREDENTIALS_REFUSED"],
    [{ url: "http://127.0.0.1/" }, "ADDRESS_REFUSED"],
    [{ url: "http://2130706433/" }, "ADDRESS_REFUSED"],
    [{ url: "http://0x7f.1/" }, "ADDRESS_REFUSED"],
    [{ url: "http://[::1]/" }, "ADDRESS_REFUSED"],
    [{ url: "http://[::ffff:169.254.169.254]/latest" }, "ADDRESS_REFUSED"],
    [{ url: "http://169.254.169.254/latest" }, "ADDRESS_REFUSED"],
    [{ url: "http://10.0.0.1/" }, "ADDRESS_REFUSED"],
  ])("%j is refused before anybody is asked about it", async (args, reason) => {
    const open = httpTool({});
    await expect(previewOf(open, args)).rejects.toMatchObject({ reason });
    await expect(callTool(open, args)).rejects.toMatchObject({ reason });
  });

  test("a name that leads to a private address is refused when it is connected to", async () => {
    for (const hosts of [undefined, { allow: [`*:${port}`] }])
      await expect(callTool(httpTool({ hosts }), { url: here() })).rejects.toMatchObject({ reason: "ADDRESS_REFUSED" });
    expect(seen).toEqual([]);
  });

  test("a host that is not allowed, or denied, is refused", async () => {
    await expect(previewOf(httpTool({ hosts: { allow: ["example.org"] } }), { url: here() })).rejects.toMatchObject({ reason: "HOST_REFUSED" });
    const denied = httpTool({ hosts: { allow: ["*", `localhost:${port}`], deny: ["localhost"] } });
    await expect(previewOf(denied, { url: here() })).rejects.toMatchObject({ reason: "HOST_REFUSED" });
  });

  test.each([
    [{ Host: "other" }],
    [{ "Content-Length": "1" }],
    [{ "Transfer-Encoding": "chunked" }],
    [{ "X-One": "a\r\nX-Two: b" }],
    [{ "X One": "a" }],
    [{ "": "a" }],
  ])("the headers %j are refused", async (headers) => {
    await expect(previewOf(tool(), { url: here(), headers: headers })).rejects.toMatchObject({
      detail: { metadata: { field: "arguments.headers" } },
    });
  });

  test("what cannot be reached says so", async () => {
    await close();
    await expect(callTool(tool(), { url: here() })).rejects.toMatchObject({ reason: "UNREACHABLE" });
    await expect(callTool(tool(), { url: "no url" })).rejects.toMatchObject({ detail: { metadata: { field: "arguments.url" } } });
  });
});

describe("what is answered", () => {
  test("is parsed where it is JSON, text where it is text, and base64 otherwise", async () => {
    answer = (_incoming, response) => response.writeHead(201, { "content-type": "application/problem+json" }).end('{"a":[1]}');
    expect(await callTool(tool(), { url: here() })).toMatchObject({ status: 201, json: { a: [1] } });
    answer = (_incoming, response) => response.writeHead(200, { "content-type": "application/json" }).end("{no");
    expect(await callTool(tool(), { url: here() })).toMatchObject({ text: "{no" });
    answer = (_incoming, response) => response.end(Buffer.from([0xff, 0, 1]));
    expect(await callTool(tool(), { url: here() })).toMatchObject({ base64: "/wAB" });
    answer = (_incoming, response) => response.writeHead(404).end();
    expect(await callTool(tool(), { url: here(), method: "HEAD" })).toMatchObject({ status: 404, text: "" });
  });

  test("is cut at a mebibyte, also where it is packed", async () => {
    const large = "ü".repeat(20 * 1024 * 1024);
    answer = (_incoming, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(large));
    const result = await callTool(tool(), { url: here() });
    expect(result.truncated).toBe(true);
    expect(result.text).toHaveLength(512 * 1024);
  });

  test("that never ends is ended by the signal", async () => {
    const abort = new AbortController();
    answer = (_incoming, response) => {
      response.write("x");
      abort.abort(new ForgeError(ErrorCode.CANCELLED, "enough"));
    };
    await expect(callTool(tool(), { url: here() }, { signal: abort.signal })).rejects.toThrow("enough");
  });

  test("that breaks off says so", async () => {
    answer = (_incoming, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write("x", () => response.destroy());
    };
    await expect(callTool(tool(), { url: here() })).rejects.toMatchObject({ reason: "BROKEN_ANSWER" });
  });
});

describe("redirects", () => {
  const to =
    (location: string, status = 302): Answer =>
    (incoming, response) =>
      incoming.url === "/" ? response.writeHead(status, { location }).end() : response.end(`at ${incoming.url}`);

  test("are followed within the rules", async () => {
    answer = to("/next");
    expect(await callTool(tool(), { url: here(), headers: { authorization: "mine" } })).toMatchObject({ status: 200, text: "at /next", url: here("/next") });
    expect(seen[1]?.headers.authorization).toBe("mine");
    answer = to("/next", 303);
    await callTool(tool(), { url: here(), method: "POST", body: "x", headers: { "content-type": "text/plain" } });
    expect(seen.at(-1)).toMatchObject({ method: "GET", body: "" });
    expect(seen.at(-1)?.headers["content-type"]).toBeUndefined();
    answer = to("/next", 307);
    await callTool(tool(), { url: here(), method: "POST", body: "x" });
    expect(seen.at(-1)).toMatchObject({ method: "POST", body: "x" });
  });

  test.each(["http://169.254.169.254/", "http://10.0.0.1/", "file:///etc/passwd", "http://localhost:1/", "http://a:b@localhost/"])(
    "to %s are not",
    async (location) => {
      answer = to(location);
      await expect(callTool(tool(), { url: here() })).rejects.toMatchObject({ reason: expect.stringMatching(/REFUSED$/) });
      expect(seen).toHaveLength(1);
    },
  );

  test("take no credentials, secrets or bodies to another origin", async () => {
    const other = await serve((incoming, response) => {
      seen.push({ method: incoming.method, url: incoming.url, headers: incoming.headers, body: "" });
      response.end("other");
    });
    onTestFinished(other.close);
    const secrets = createSecretSource({ environment: { FORGE_SECRET_KEY: "s3cret-key" } });
    const hosts = { allow: [`localhost:${port}`, `localhost:${other.port}`] };
    const both = httpTool({ hosts, secrets, secretHosts: { key: [`localhost:${port}`] } });
    answer = to(`http://localhost:${other.port}/there`);
    const headers = { Authorization: "mine", Cookie: "mine", "X-Key": "secret://key", "X-Other": "stays" };
    expect(await callTool(both, { url: here(), headers })).toMatchObject({ text: "other" });
    expect(seen[0]?.headers).toMatchObject({ authorization: "mine", cookie: "mine", "x-key": "s3cret-key", "x-other": "stays" });
    expect(seen[1]?.headers).toMatchObject({ "x-other": "stays" });
    for (const name of ["authorization", "cookie", "x-key"]) expect(seen[1]?.headers[name]).toBeUndefined();
    answer = to(`http://localhost:${other.port}/there`, 308);
    expect(await callTool(both, { url: here(), method: "PUT", body: "x" })).toMatchObject({ status: 308 });
    expect(seen).toHaveLength(3);
  });

  test("end after five", async () => {
    answer = (_incoming, response) => response.writeHead(302, { location: "/again" }).end();
    await expect(callTool(tool(), { url: here() })).rejects.toMatchObject({ reason: "TOO_MANY_REDIRECTS" });
    expect(seen).toHaveLength(6);
  });
});

describe("secrets", () => {
  test("go only to their hosts, and come back as nothing", async () => {
    const secrets = createSecretSource({ environment: { FORGE_SECRET_KEY: "s3cret-key" } });
    const with_ = (secretHosts: Record<string, string[]>) => tool({ secrets, secretHosts });
    answer = (incoming, response) => response.writeHead(200, { "x-echo": String(incoming.headers.authorization) }).end(JSON.stringify(incoming.headers));
    const args = { url: here(), headers: { authorization: "Bearer secret://key" } };
    const allowed = with_({ key: [`localhost:${port}`] });
    const result = await callTool(allowed, args);
    expect(seen[0]?.headers.authorization).toBe("Bearer s3cret-key");
    expect(JSON.stringify(result)).not.toContain("s3cret");
    expect(result.headers).toMatchObject({ "x-echo": "Bearer [secret]" });
    for (const tell of [with_({}), with_({ key: ["example.org"] })]) await expect(previewOf(tell, args)).rejects.toMatchObject({ reason: "SECRET_REFUSED" });
    const told = await previewOf(allowed, args);
    expect(told.title).toContain("with the secret key");
    expect(JSON.stringify([told.title, told.factsJson, told.ruleKey])).not.toContain("s3cret-key");
  });
});

test("a rule is of a method, an origin and the secrets that are sent", async () => {
  const key = async (args: { url: string; method?: string }) => (await previewOf(httpTool({}), args)).ruleKey;
  expect(await key({ url: "https://example.org/a" })).toBe(await key({ url: "https://example.org/b?c" }));
  for (const other of [
    { url: "http://example.org/a" },
    { url: "https://example.org:444/a" },
    { url: "https://sub.example.org/a" },
    { url: "https://example.org/a", method: "POST" },
  ])
    expect(await key(other)).not.toBe(await key({ url: "https://example.org/a" }));
  const { risk, ruleTitle, title } = await previewOf(httpTool({}), { url: "https://example.org/a" });
  expect({ risk, ruleTitle, title }).toEqual({ risk: RiskLevel.UNSPECIFIED, ruleTitle: "GET https://example.org", title: "GET https://example.org/a" });
});

test("what was shown is what is sent", async () => {
  const previewed = await previewOf(tool(), { url: here("/a") });
  await expect(callTool(tool(), { url: here("/b") }, { previewed })).rejects.toMatchObject({ reason: "PREVIEW_STALE" });
  expect(seen).toEqual([]);
});
