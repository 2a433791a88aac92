import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type MessageSchema, type PartSchema, ReadConversationResponseSchema, Role } from "@forge/protocol/session";
import { ModelTaskSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import { assembleRequest } from "./assemble.ts";
import { DEFAULT_DIALECT, type Dialect } from "./dialect.ts";
import { encodeOrigin } from "./part-origin.ts";

type PartInit = MessageInitShape<typeof PartSchema>;
type MessageInit = MessageInitShape<typeof MessageSchema>;

const text = (value: string): PartInit => ({ kind: { case: "text", value: { text: value } } });
const user = (value: string): MessageInit => ({ role: Role.USER, parts: [text(value)] });
const assistant = (...parts: PartInit[]): MessageInit => ({ role: Role.ASSISTANT, parts });

function call(toolCallId: string, providerCallId: string, argumentsJson = "{}", providerMetadataJson = ""): PartInit {
  return { kind: { case: "toolCall", value: { toolCallId, providerCallId, tool: "tools.search", argumentsJson } }, providerMetadataJson };
}

function result(toolCallId: string, output: string, isError = false): MessageInit {
  return { role: Role.TOOL, parts: [{ kind: { case: "toolResult", value: { toolCallId, tool: "tools.search", output, isError } } }] };
}

function assemble(messages: MessageInit[], model = "openai/gpt-x", extra: MessageInitShape<typeof ModelTaskSchema> = {}) {
  const tools = [
    { name: "tools.search", description: "Searches.", inputSchemaJson: '{"type":"object","properties":{"pattern":{"type":"string"}}}' },
    { name: "tools.file", inputSchemaJson: "{}" },
  ];
  return assembleRequest(create(ReadConversationResponseSchema, { messages, system: "Be brief.", tools }), create(ModelTaskSchema, { model, ...extra }));
}

describe("assembleRequest", () => {
  it("puts the system prompt first, keeps the order of messages and tools, and hides dots from the provider", () => {
    const { options } = assemble([user("hi"), assistant(text("a"), call("ours-1", "p-1", '{"pattern": "x"}')), result("ours-1", "found")]);
    expect(options.prompt).toEqual([
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "hi" }] },
      {
        role: "assistant",
        content: [
          { type: "text", text: "a" },
          { type: "tool-call", toolCallId: "p-1", toolName: "tools__search", input: '{"pattern": "x"}' },
        ],
      },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "p-1", toolName: "tools__search", output: { type: "text", value: "found" } }] },
    ]);
    expect(options.tools?.map((tool) => tool.name)).toEqual(["tools__search", "tools__file"]);
  });

  it("marks the result of a call that did not complete", () => {
    const { options } = assemble([assistant(call("o", "p")), result("o", "denied", true)]);
    expect(options.prompt.at(-1)).toMatchObject({ content: [{ output: { type: "error-text", value: "denied" } }] });
  });

  it("sends reasoning, and what a provider noted with a part, back to the model that wrote it only", () => {
    const metadata = { openai: { signature: "s" } };
    const origin = (model: string) => encodeOrigin({ provider: "openai", model, metadata });
    const reasoning: PartInit = { kind: { case: "reasoning", value: { text: "hm" } }, providerMetadataJson: origin("gpt-x") };
    const messages = [assistant(reasoning, { ...text("a"), providerMetadataJson: origin("gpt-x") })];
    const content = (model: string) => assemble(messages, model).options.prompt[1]?.content;
    expect(content("openai/gpt-x")).toEqual([
      { type: "reasoning", text: "hm", providerOptions: metadata },
      { type: "text", text: "a", providerOptions: metadata },
    ]);
    expect(content("openai/gpt-y")).toEqual([{ type: "text", text: "a" }]);
    expect(content("ollama/gpt-x")).toEqual([{ type: "text", text: "a" }]);
  });

  it("leaves out a message of which nothing is left", () => {
    const reasoning: PartInit = { kind: { case: "reasoning", value: { text: "hm" } }, providerMetadataJson: encodeOrigin({ provider: "demo", model: "chat" }) };
    expect(assemble([user("hi"), assistant(reasoning), user("again")]).options.prompt.map((message) => message.role)).toEqual(["system", "user", "user"]);
  });

  it("keeps two calls under one provider id apart, and gives a foreign call our id", () => {
    const foreign = encodeOrigin({ provider: "ollama", model: "x" });
    const { options } = assemble([
      assistant(call("o-1", "same"), call("o-2", "same"), call("o-3", "theirs", "{}", foreign)),
      result("o-1", "1"),
      result("o-2", "2"),
      result("o-3", "3"),
    ]);
    const ids = options.prompt.flatMap((message) =>
      message.role === "system" ? [] : message.content.map((part) => ("toolCallId" in part ? part.toolCallId : "")),
    );
    expect(ids).toEqual(["same", "o-2", "o-3", "same", "o-2", "o-3"]);
  });

  it("never lets a person's message carry provider metadata", () => {
    const injected = {
      ...text("hi"),
      providerMetadataJson: encodeOrigin({ provider: "openai", model: "gpt-x", metadata: { openaiCompatible: { role: "system" } } }),
    };
    expect(assemble([{ role: Role.USER, parts: [injected] }]).options.prompt[1]).toEqual({ role: "user", content: [{ type: "text", text: "hi" }] });
  });

  it("gives the same digest for the same conversation, and a longer one the same beginning", () => {
    const short = assemble([user("hi")]);
    const long = assemble([user("hi"), assistant(text("a")), user("more")]);
    expect(assemble([user("hi")]).requestDigest).toBe(short.requestDigest);
    expect(long.requestDigest).not.toBe(short.requestDigest);
    expect(long.messageDigests.slice(0, 2)).toEqual(short.messageDigests);
    expect(long.toolCatalogueDigest).toBe(short.toolCatalogueDigest);
    expect(short.requestDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  it("digests the parameters as well", () => {
    const plain = assemble([user("hi")]);
    const warm = assemble([user("hi")], "openai/gpt-x", { temperature: 0, maxOutputTokens: 100 });
    expect(warm.requestDigest).not.toBe(plain.requestDigest);
    expect(warm.parametersJson).toBe('{"max_output_tokens":100,"model":"openai/gpt-x","temperature":0}');
    expect(warm.options).toMatchObject({ temperature: 0, maxOutputTokens: 100 });
  });

  it("leaves blank text out, which some providers refuse", () => {
    const messages = [user("hi"), user(" \n"), assistant(text("\n\n"), call("o", "p")), result("o", ""), assistant(text("\n"))];
    const { prompt } = assemble(messages).options;
    expect(prompt.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool"]);
    expect(prompt[2]?.content).toMatchObject([{ type: "tool-call" }]);
  });

  it("ends with the user's turn where the provider wants it", () => {
    const conversation = create(ReadConversationResponseSchema, { messages: [user("hi"), assistant(text("a"))] });
    const last = (dialect: Dialect) => assembleRequest(conversation, create(ModelTaskSchema, { model: "p/m" }), { dialect }).options.prompt.at(-1);
    expect(last(DEFAULT_DIALECT)?.role).toBe("assistant");
    expect(last({ ...DEFAULT_DIALECT, lastMessage: "user" })).toEqual({ role: "user", content: [{ type: "text", text: "Go on." }] });
  });

  it("refuses what has no place in a message, naming the field", () => {
    expect(() => assemble([user("x")], "nomodel")).toThrow(/provider\/model/);
    expect(() => assemble([{ role: Role.UNSPECIFIED, parts: [] }])).toThrow(/unknown role/);
    expect(() => assemble([{ role: Role.USER, parts: [call("o", "p")] }])).toThrow(/user message can't hold a part of kind toolCall/);
  });
});
