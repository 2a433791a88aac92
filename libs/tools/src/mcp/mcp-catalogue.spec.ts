import { create } from "@bufbuild/protobuf";
import { ArtifactRefSchema } from "@forge/protocol/common";
import { describe, expect, it } from "vitest";
import { answerTo, questionOf } from "./elicitation.ts";
import { catalogueOf, describeChange, type ListedTool } from "./mcp-catalogue.ts";
import { outputOf, textOf } from "./mcp-output.ts";

const tool = (name: string, more: Partial<ListedTool> = {}): ListedTool => ({ name, description: `Does ${name}.`, inputSchema: { type: "object" }, ...more });

describe("catalogueOf", () => {
  it("has the same bytes in whatever order a server lists tools and properties", () => {
    const schema = { type: "object", properties: { a: { type: "string" }, b: { type: "number" } } };
    const same = { properties: { b: { type: "number" }, a: { type: "string" } }, type: "object", $schema: "http://json-schema.org/draft-07/schema#" };
    const one = catalogueOf("s", "s", [tool("x", { inputSchema: schema }), tool("y"), tool("x", { description: "Another." })]);
    const two = catalogueOf("s", "s", [tool("x", { description: "Another." }), tool("y"), tool("x", { inputSchema: same })]);
    expect(JSON.stringify(two)).toBe(JSON.stringify(one));
    expect(one.tools.map(({ name }) => name)).toEqual(["mcp.s.x", "mcp.s.y"]);
    expect(one.problems).toMatchObject([{ reason: "MCP_TOOL_REFUSED" }]);
  });

  it("gives names that had to be changed a digest, so that none takes another's place", () => {
    const names = catalogueOf("s", "s", [tool("read file"), tool("read/file"), tool("read_file"), tool("é".repeat(300))]).tools.map(({ name }) => name);
    expect(new Set(names).size).toBe(4);
    expect(names).toContain("mcp.s.read_file");
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_.-]{1,128}$/);
  });

  it("cuts a long description, takes out what nobody sees, and refuses schemas that are too large or of no object", () => {
    const big = { type: "object", description: "x".repeat(17_000) };
    const { tools, problems } = catalogueOf("s", "s", [
      tool("a", { description: `Reads.\u200b\u{e0041}\u0007${"x".repeat(5000)}` }),
      tool("b", { inputSchema: big }),
      tool("c", { inputSchema: { type: "string" } }),
      tool("d", { inputSchema: { type: "object", properties: { n: { type: "number", exclusiveMinimum: true } } } }),
      tool("e", { inputSchema: { type: "object", $id: "same", properties: { at: { type: "string", format: "who-knows" } } } }),
      tool("f", { inputSchema: { type: "object", $id: "same" } }),
    ]);
    expect(tools.map(({ name }) => name)).toEqual(["mcp.s.a", "mcp.s.e", "mcp.s.f"]);
    expect(tools[0]?.description).toHaveLength(4096);
    expect(tools[0]?.description).toMatch(/^Reads\.xxx/);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining("16384 bytes"),
      expect.stringContaining("not of an object"),
      expect.stringContaining("is none"),
    ]);
  });

  it("serves a bounded number of tools and says so", () => {
    const { tools, problems } = catalogueOf(
      "s",
      "s",
      Array.from({ length: 130 }, (_, index) => tool(`t${index}`)),
    );
    expect(tools).toHaveLength(128);
    expect(problems).toMatchObject([{ reason: "MCP_TOO_MANY_TOOLS" }]);
  });

  it("tells in short how a tool has changed", () => {
    const of = (listed: ListedTool) => catalogueOf("s", "s", [listed]).tools[0] as NonNullable<ReturnType<typeof catalogueOf>["tools"][0]>;
    const before = of(tool("x", { inputSchema: { type: "object", properties: { a: { type: "string" }, b: {} } } }));
    const after = of(tool("x", { description: "Does x. And sends it away.", inputSchema: { type: "object", properties: { a: { type: "number" }, c: {} } } }));
    const said = describeChange(before, after);
    expect(said).toContain("And sends it away");
    expect(said).toContain("new arguments c");
    expect(said).toContain("arguments b that are gone");
    expect(said).toContain("arguments a, which");
  });
});

describe("outputOf", () => {
  it("keeps text, puts what is binary into artifacts, and drops text that repeats what is structured", async () => {
    const kept: { content: Uint8Array; mediaType: string }[] = [];
    const output = await outputOf(
      {
        content: [
          { type: "text", text: '{ "b": 1, "a": [2] }' },
          { type: "text", text: "hello" },
          { type: "image", data: Buffer.from("png").toString("base64"), mimeType: "image/png" },
          { type: "resource", resource: { uri: "file:///a", text: "A", mimeType: "text/markdown" } },
          { type: "resource", resource: { uri: "file:///b", blob: "AAE=" } },
          { type: "resource_link", uri: "file:///c", name: "c" },
          { type: "hologram" },
        ],
        structuredContent: { a: [2], b: 1 },
      },
      async (content, mediaType) => {
        kept.push({ content, mediaType });
        return create(ArtifactRefSchema, { sha256: `hash-${kept.length}` });
      },
    );
    expect(output).toEqual({
      content: [
        { type: "text", text: "hello" },
        { type: "image", media_type: "image/png", artifact: "hash-1", bytes: 3 },
        { type: "resource", uri: "file:///a", media_type: "text/markdown", text: "A" },
        { type: "resource", uri: "file:///b", media_type: "application/octet-stream", artifact: "hash-2", bytes: 2 },
        { type: "resource_link", uri: "file:///c", name: "c", description: "" },
        { type: "unsupported", of: "hologram" },
      ],
      structured: { a: [2], b: 1 },
    });
    expect(kept.map(({ content }) => Buffer.from(content).toString("hex"))).toEqual(["706e67", "0001"]);
  });

  it("survives an answer of anything", async () => {
    const put = () => Promise.reject(new Error("nothing to keep"));
    expect(await outputOf({ content: [null, 3, { type: "text" }] }, put)).toEqual({
      content: [
        { type: "unsupported", of: "" },
        { type: "unsupported", of: "" },
        { type: "text", text: "" },
      ],
    });
    expect(await outputOf({ content: "no list" }, put)).toEqual({ content: [] });
    expect(
      textOf({
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      }),
    ).toBe("a\nb");
  });
});

describe("a server's question", () => {
  const one = { message: "Which size?", requestedSchema: { type: "object", properties: { size: { type: "integer", minimum: 1 } }, required: ["size"] } };
  const two = {
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" }, admin: { type: "boolean" } }, required: ["name"] },
  };

  it("says who asks, what, and how it is answered", () => {
    expect(questionOf("shop", one)).toContain("The MCP server shop asks: Which size?\nAnswer with size (a integer).");
    expect(questionOf("shop", two)).toContain("- admin (yes or no, may be left out)");
    expect(questionOf("shop", { message: "x".repeat(10_000), requestedSchema: {} }).length).toBeLessThanOrEqual(4096);
    expect(questionOf("shop", { mode: "url", message: "Log in", url: "https://example.org" })).toContain("Open https://example.org yourself");
  });

  it("takes a single value plainly and several as JSON", () => {
    expect(answerTo(one, " 3 ")).toEqual({ action: "accept", content: { size: 3 } });
    expect(answerTo(two, '{"name": "Ada", "admin": true}')).toEqual({ action: "accept", content: { name: "Ada", admin: true } });
    expect(answerTo({ message: "Sure?" }, "Yes")).toEqual({ action: "accept", content: {} });
    expect(answerTo({ message: "Sure?" }, "no")).toEqual({ action: "decline" });
    expect(answerTo({ mode: "url" }, "done")).toEqual({ action: "accept" });
    expect(answerTo(one, "/decline")).toEqual({ action: "decline" });
  });

  it.each([
    [one, "0"],
    [one, "many"],
    [two, "Ada"],
    [two, '{"admin": true}'],
    [{ message: "Sure?" }, "perhaps"],
  ])("says what is wrong with an answer that does not fit", (asked, written) => {
    expect(answerTo(asked, written)).toMatchObject({ problem: expect.stringMatching(/answer/) });
  });
});
