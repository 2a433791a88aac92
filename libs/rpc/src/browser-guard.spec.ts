import { describe, expect, it } from "vitest";
import { refuseBrowser } from "./browser-guard.ts";

const OPTIONS = { origins: new Set(["http://localhost:5173"]), hosts: new Set(["forge.example"]) };

describe("a request from a browser", () => {
  it.each(["localhost", "localhost:7233", "LOCALHOST:7233", "127.0.0.1:7233", "[::1]:7233", "[::1]", "forge.example", "Forge.Example:443"])(
    "is served under the host %s",
    (host) => {
      expect(refuseBrowser({ host }, OPTIONS)).toBeUndefined();
    },
  );

  it.each(["evil.example:7233", "localhost.evil.example", "127.0.0.1.evil.example", "localhost:7233:80", "user@localhost", ""])(
    "is refused under another host, as after a name was bound anew to loopback: %s",
    (host) => {
      expect(refuseBrowser({ host }, OPTIONS)).toMatch(/^host .*is not served here$/);
    },
  );

  it("is refused without a host", () => {
    expect(refuseBrowser({}, OPTIONS)).toMatch(/is not served here$/);
  });

  it("is known by its authority over HTTP/2", () => {
    expect(refuseBrowser({ ":authority": "127.0.0.1:7233" }, OPTIONS)).toBeUndefined();
    expect(refuseBrowser({ ":authority": "evil.example" }, OPTIONS)).toMatch(/^host evil/);
  });

  it("is served from a known origin and from no page at all", () => {
    expect(refuseBrowser({ host: "localhost", origin: "http://localhost:5173" }, OPTIONS)).toBeUndefined();
    expect(refuseBrowser({ host: "localhost" }, OPTIONS)).toBeUndefined();
  });

  it.each([
    ["localhost:7233", "http://localhost:7233"],
    ["127.0.0.1:7233", "http://127.0.0.1:7233"],
    ["Forge.Example", "https://forge.example"],
  ])("is served from the server's own pages: host %s, origin %s", (host, origin) => {
    expect(refuseBrowser({ host, origin }, OPTIONS)).toBeUndefined();
  });

  it("is refused under a strange host, though its page has the same", () => {
    expect(refuseBrowser({ host: "evil.example:7233", origin: "http://evil.example:7233" }, OPTIONS)).toMatch(/^host evil/);
  });

  it("is refused from another port or name of the same machine", () => {
    expect(refuseBrowser({ host: "localhost:7233", origin: "http://localhost:7234" }, OPTIONS)).toMatch(/^origin/);
    expect(refuseBrowser({ host: "localhost:7233", origin: "http://127.0.0.1:7233" }, OPTIONS)).toMatch(/^origin/);
  });

  it.each(["http://localhost:5174", "https://localhost:5173", "http://evil.example", "null", ""])("is refused from another origin: %s", (origin) => {
    expect(refuseBrowser({ host: "localhost", origin }, OPTIONS)).toMatch(/^origin .*is not allowed here$/);
  });

  it("is not answered with more of what it sent than a line holds", () => {
    expect(refuseBrowser({ host: "localhost", origin: "x".repeat(10_000) }, OPTIONS)?.length).toBeLessThan(300);
  });
});
