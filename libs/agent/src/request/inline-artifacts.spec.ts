import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type PartSchema, ReadConversationResponseSchema, Role } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import { storeArtifact } from "../testing/fake-context.ts";
import { INLINED_BYTES_MAX, inlineArtifacts, TOOL_RESULT_BYTES_MAX } from "./inline-artifacts.ts";
import { encodeOrigin } from "./part-origin.ts";

const artifacts = new Map<string, Uint8Array>();
const getArtifact = async (sha256: string): Promise<Uint8Array> => artifacts.get(sha256) as Uint8Array;
const store = (content: string | Uint8Array, mediaType: string) =>
  storeArtifact(artifacts, typeof content === "string" ? new TextEncoder().encode(content) : content, mediaType);

async function inline(part: MessageInitShape<typeof PartSchema>) {
  const conversation = create(ReadConversationResponseSchema, { messages: [{ role: Role.USER, parts: [part] }] });
  const inlined = await inlineArtifacts(conversation, getArtifact);
  return inlined.messages[0]?.parts[0]?.kind;
}

describe("inlineArtifacts", () => {
  it("turns text into a text part and leaves the given conversation alone", async () => {
    const value = store("größer", "text/plain; charset=utf-8");
    const conversation = create(ReadConversationResponseSchema, { messages: [{ role: Role.USER, parts: [{ kind: { case: "artifact", value } }] }] });
    const inlined = await inlineArtifacts(conversation, getArtifact);
    expect(inlined.messages[0]?.parts[0]?.kind).toMatchObject({ case: "text", value: { text: "größer" } });
    expect(conversation.messages[0]?.parts[0]?.kind.case).toBe("artifact");
  });

  it("turns what was kept of a model's reasoning into reasoning again", async () => {
    const providerMetadataJson = encodeOrigin({ provider: "openai", model: "m", kind: "reasoning" });
    expect(await inline({ kind: { case: "artifact", value: store("hm", "text/plain") }, providerMetadataJson })).toMatchObject({
      case: "reasoning",
      value: { text: "hm" },
    });
  });

  it("leaves what is not text as it is, and refuses what only says that it is", async () => {
    expect(await inline({ kind: { case: "artifact", value: store("x", "image/png") } })).toMatchObject({ case: "artifact" });
    expect(await inline({ kind: { case: "artifact", value: store("<svg/>", "image/svg+xml") } })).toMatchObject({ case: "text", value: { text: "<svg/>" } });
    await expect(inline({ kind: { case: "artifact", value: store(new Uint8Array([0xff, 0xfe]), "text/plain") } })).rejects.toThrow(/not UTF-8/);
  });

  it("refuses more text than a model could read, before it loads it", async () => {
    const value = { ...store("x", "text/plain"), size: BigInt(INLINED_BYTES_MAX + 1) };
    await expect(inline({ kind: { case: "artifact", value } })).rejects.toThrow(/more than 4194304 bytes/);
  });

  it("shows the beginning of a large tool result and says how much is left out", async () => {
    const value = store(`a${"é".repeat(TOOL_RESULT_BYTES_MAX)}`, "application/json");
    const kind = await inline({ kind: { case: "toolResult", value: { toolCallId: "o", tool: "t", output: "preview", artifact: value } } });
    const output = kind?.case === "toolResult" ? kind.value.output : "";
    expect(output).not.toContain("\ufffd");
    expect(output.startsWith("aéé")).toBe(true);
    expect(output).toMatch(/é\n\[65537 more bytes left out\]$/);
  });
});
