import { describe, expect, it } from "vitest";
import { createSecretSource } from "../secrets/secret-source.ts";
import { expandValue, type ValueSource } from "./expand-value.ts";
import { parseMcpConfig } from "./mcp-config.ts";

const FILE = ".mcp.json";

describe("parseMcpConfig", () => {
  it("reads programs and HTTP servers, and leaves alone what other programs keep in the file", () => {
    const { servers, problems } = parseMcpConfig(
      JSON.stringify({
        mcpServers: {
          files: { command: "npx", args: ["server-files", "."], env: { MODE: "x" }, autoApprove: ["write"] },
          web: { type: "http", url: "https://example.org/mcp", headers: { Authorization: "Bearer secret://web" } },
          off: { command: "x", disabled: true },
        },
      }),
      FILE,
    );
    expect(problems).toEqual([]);
    expect(servers).toMatchObject([
      { kind: "stdio", name: "files", command: "npx", args: ["server-files", "."], env: { MODE: "x" } },
      { kind: "http", name: "web", url: "https://example.org/mcp", headers: { Authorization: "Bearer secret://web" } },
    ]);
  });

  it("tells the line of what is wrong with one server, and serves the others", () => {
    const { servers, problems } = parseMcpConfig(
      '{\n  "mcpServers": {\n    "a": { "command": "x" },\n    "b": {\n      "command": "x",\n      "args": "y"\n    }\n  }\n}',
      FILE,
    );
    expect(servers.map(({ name }) => name)).toEqual(["a"]);
    expect(problems).toMatchObject([{ server: "b", line: 6, reason: "MCP_CONFIG" }]);
    expect(problems[0]?.message).toContain(".mcp.json:6: ");
  });

  it.each([
    ["text that is no JSON", '{\n "mcpServers": {\n  x\n }}', 3, "is not JSON"],
    ["what YAML would take", "mcpServers:\n  a: {command: x}", 1, "is not JSON"],
    ["a name twice", '{"mcpServers": {\n"a": {"command": "x"},\n"a": {"command": "y"}}}', 3, "twice"],
    ["no servers", "[]", 1, "mcpServers"],
  ])("refuses %s, with the line", (_what, source, line, says) => {
    const { servers, problems } = parseMcpConfig(source, FILE);
    expect(servers).toEqual([]);
    expect(problems).toMatchObject([{ line }]);
    expect(problems[0]?.message).toContain(says);
  });

  it("says of the old SSE transport that it is not supported", () => {
    expect(parseMcpConfig('{"mcpServers": {"a": {"type": "sse", "url": "http://x"}}}', FILE).problems[0]?.message).toContain('"sse" is not supported');
  });

  it("has one digest for one configuration however it is written, and another for another", () => {
    const digest = (source: string): string | undefined => parseMcpConfig(source, FILE).servers[0]?.digest;
    const one = digest('{"mcpServers": {"a": {"command": "x", "env": {"A": "1", "B": "2"}}}}');
    expect(digest('{"mcpServers": {"a": {"env": {"B": "2",   "A": "1"}, "command": "x", "args": []}}}')).toBe(one);
    expect(digest('{"mcpServers": {"a": {"command": "x", "args": ["--evil"], "env": {"A": "1", "B": "2"}}}}')).not.toBe(one);
  });
});

describe("expandValue", () => {
  const source: ValueSource = {
    environment: { HOME: "/home/me", OPENAI_API_KEY: "sk-secret-1", MY_TOKEN: "token-2" },
    allowedVariables: ["MY_*"],
    secrets: createSecretSource({ environment: { FORGE_SECRET_WEB: "s3cret-3" } }),
  };

  it("expands variables that may be used, and secrets, and tells what of it is secret", () => {
    expect(expandValue("${HOME}/x", source)).toEqual({ value: "/home/me/x", secrets: [] });
    expect(expandValue("Bearer ${MY_TOKEN}", source)).toEqual({ value: "Bearer token-2", secrets: ["token-2"] });
    expect(expandValue("Bearer secret://web", source)).toEqual({ value: "Bearer s3cret-3", secrets: ["s3cret-3"] });
    expect(expandValue("${MY_OTHER:-none}", source).value).toBe("none");
  });

  it.each([
    ["${OPENAI_API_KEY}", "may not be used"],
    ["${MY_OTHER}", "is not set"],
    ["secret://other", "other"],
  ])("refuses %s", (text, says) => {
    expect(() => expandValue(text, source)).toThrow(says);
  });
});
