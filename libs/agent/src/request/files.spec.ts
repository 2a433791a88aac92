import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ErrorCode } from "@forge/protocol/common";
import { type MessageSchema, ReadConversationResponseSchema, Role } from "@forge/protocol/session";
import { ModelTaskSchema } from "@forge/protocol/worker";
import { describe, expect, it } from "vitest";
import { storeArtifact } from "../testing/fake-context.ts";
import { assembleRequest } from "./assemble.ts";
import { FILES_BYTES_MAX, loadFiles } from "./files.ts";

const artifacts = new Map<string, Uint8Array>();
let reads = 0;
const getArtifact = async (sha256: string): Promise<Uint8Array> => {
  reads += 1;
  return artifacts.get(sha256) as Uint8Array;
};

function shown(content: string, mediaType: string, turnId = "now", size?: number): MessageInitShape<typeof MessageSchema> {
  const ref = storeArtifact(artifacts, new TextEncoder().encode(content), mediaType);
  return { role: Role.USER, turnId, parts: [{ kind: { case: "artifact", value: size === undefined ? ref : { ...ref, size: BigInt(size) } } }] };
}

const conversation = (...messages: MessageInitShape<typeof MessageSchema>[]) => create(ReadConversationResponseSchema, { messages });
const reader = { model: "p/m", inputs: ["image", "pdf"] as const, turnId: "now" };

async function prompt(...messages: MessageInitShape<typeof MessageSchema>[]) {
  const read = conversation(...messages);
  const files = await loadFiles(read, reader, getArtifact);
  return assembleRequest(read, create(ModelTaskSchema, { model: "p/m" }), { files });
}

describe("files in a conversation", () => {
  it("are shown to the model as they are, with their media type", async () => {
    const { options } = await prompt(shown("PNG", "image/png; x=y"));
    expect(options.prompt).toEqual([
      { role: "user", content: [{ type: "file", mediaType: "image/png", data: { type: "data", data: new TextEncoder().encode("PNG") } }] },
    ]);
  });

  it("count in the digest by what they hold", async () => {
    const first = await prompt(shown("one", "image/png"));
    const same = await prompt(shown("one", "image/png"));
    const other = await prompt(shown("two", "image/png"));
    expect(same.requestDigest).toBe(first.requestDigest);
    expect(other.requestDigest).not.toBe(first.requestDigest);
    expect(other.messageDigests).not.toEqual(first.messageDigests);
  });

  it("are refused where the model can't take them, naming the model and what it reads", async () => {
    const load = (message: MessageInitShape<typeof MessageSchema>) => loadFiles(conversation(message), reader, getArtifact);
    await expect(load(shown("x", "video/mp4"))).rejects.toMatchObject({
      code: ErrorCode.UNSUPPORTED,
      reason: "UNSUPPORTED_INPUT",
      message: expect.stringMatching(/^p\/m can't be given .*video\/mp4: it reads text and image, pdf\.$/),
    });
    await expect(load(shown("x", "application/zip"))).rejects.toMatchObject({ reason: "UNSUPPORTED_INPUT" });
  });

  it("are refused where they are too large, before they are loaded", async () => {
    const before = reads;
    await expect(loadFiles(conversation(shown("x", "image/png", "now", FILES_BYTES_MAX + 1)), reader, getArtifact)).rejects.toMatchObject({
      reason: "INPUT_TOO_LARGE",
    });
    const half = FILES_BYTES_MAX / 2 + 1;
    await expect(loadFiles(conversation(shown("a", "image/png", "now", half), shown("b", "image/png", "now", half)), reader, getArtifact)).rejects.toThrow(
      /too large/,
    );
    expect(reads - before).toBeLessThanOrEqual(1);
  });

  it("of earlier turns are told in words where they can't be shown, so that the session goes on with any model", async () => {
    const { options } = await prompt(
      shown("old film", "video/mp4", "before"),
      shown("old", "image/png", "before", FILES_BYTES_MAX),
      shown("new", "image/png", "now"),
    );
    expect(options.prompt.map((message) => (message.role === "user" ? message.content[0]?.type : ""))).toEqual(["text", "text", "file"]);
    expect(options.prompt[0]?.content).toEqual([{ type: "text", text: "[A file of type video/mp4, 8 bytes, was shown here; it can't be shown to you.]" }]);
  });

  it("are loaded once, however often they are shown", async () => {
    const before = reads;
    await loadFiles(conversation(shown("same", "image/png"), shown("same", "image/png")), reader, getArtifact);
    expect(reads - before).toBe(1);
  });
});
