import { expect, test } from "vitest";
import { isHostAllowed, isNamedHost, requireHostPatterns } from "./host-rules.ts";

test.each([
  { allow: ["example.org"], host: "example.org", port: 443, is: true },
  { allow: ["example.org"], host: "EXAMPLE.org.", port: 80, is: true },
  { allow: ["example.org"], host: "example.org", port: 22, is: false },
  { allow: ["example.org:22"], host: "example.org", port: 22, is: true },
  { allow: ["example.org:22"], host: "example.org", port: 443, is: false },
  { allow: ["example.org"], host: "evil-example.org", port: 443, is: false },
  { allow: ["example.org"], host: "example.org.evil.net", port: 443, is: false },
  { allow: ["*.example.org"], host: "a.b.example.org", port: 443, is: true },
  { allow: ["*.example.org"], host: "example.org", port: 443, is: false },
  { allow: ["*.example.org"], host: "evilexample.org", port: 443, is: false },
  { allow: ["*"], host: "anything.net", port: 443, is: true },
  { allow: ["*"], host: "anything.net", port: 8080, is: false },
  { allow: ["*:8080"], host: "anything.net", port: 8080, is: true },
  { allow: ["[::1]:8080"], host: "[::1]", port: 8080, is: true },
  { allow: ["127.0.0.1:8080"], host: "127.0.0.1", port: 8080, is: true },
  { allow: [], host: "example.org", port: 443, is: false },
])("$allow and $host:$port: $is", ({ allow, host, port, is }) => {
  expect(isHostAllowed({ allow }, host, port)).toBe(is);
});

test("what is denied is denied at every port, whatever is allowed", () => {
  expect(isHostAllowed({ allow: ["*", "*:8080"], deny: ["*.evil.net"] }, "a.evil.net", 8080)).toBe(false);
});

test("a host is named by itself, not by a pattern of many", () => {
  expect(isNamedHost({ allow: ["localhost:80"] }, "localhost", 80)).toBe(true);
  expect(isNamedHost({ allow: ["*", "*.local"] }, "a.local", 80)).toBe(false);
});

test("what is no pattern is named", () => {
  for (const pattern of ["https://example.org", "a b", "", "*x.org", "example.org/path", "."])
    expect(() => requireHostPatterns("http.allow", [pattern]), pattern).toThrow("is no host");
  expect(() => requireHostPatterns("http.allow", ["example.org", "*.Example.org:8080", "*", "[::1]:80", "a"])).not.toThrow();
});
