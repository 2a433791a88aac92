import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ContextReport, RepositoryIndex } from "@forge/context";
import { dataDirectoryOf } from "@forge/host/project";
import { ForgeError } from "@forge/protocol";
import type { ArtifactRef } from "@forge/protocol/common";
import type { PartSchema, StartTurnRequestSchema } from "@forge/protocol/session";
import type { ProjectLink } from "../server/project-link.ts";

/** What a turn begins with: what the person says, and what was found for it. */
export type TurnInput = Pick<MessageInitShape<typeof StartTurnRequestSchema>, "input" | "context" | "contextSources">;

type PartInit = MessageInitShape<typeof PartSchema>;

const FILE_BYTES_MAX = 16 * 1024 * 1024;
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".pdf": "application/pdf",
};

/** Finds what belongs to what a person says: rules, references, a map of the repository, pictures. */
export class TurnContext implements AsyncDisposable {
  readonly #link: ProjectLink;
  #index: Promise<RepositoryIndex> | undefined;
  #report: ContextReport | undefined;

  /** The index is read and built in the background from here on, of a workspace that is on this machine. */
  constructor(link: ProjectLink) {
    this.#link = link;
    if (!this.#isHere) return;
    this.#index = import("@forge/context").then(({ RepositoryIndex: Index }) => new Index({ root: link.root, dataDirectory: dataDirectoryOf(link.root) }));
    // Whoever asks for it is told.
    this.#index.catch(() => undefined);
  }

  /** How the last turn's context was made up; undefined before there was one. */
  get report(): ContextReport | undefined {
    return this.#report;
  }

  /** `files` are pictures and documents that go with the text. Errors: validation, of a file. */
  async input(text: string, files: readonly string[] = []): Promise<TurnInput> {
    const input: PartInit[] = [{ kind: { case: "text", value: { text } } }];
    for (const file of files) input.push(await this.#file(file));
    if (!this.#isHere) return { input };
    const { buildContext } = await import("@forge/context");
    const { parts, sources, report } = await buildContext({ root: this.#link.root, message: text, index: await this.#index });
    this.#report = report;
    const context: PartInit[] = [];
    for (const part of parts) {
      if (part.kind === "text") context.push({ kind: { case: "text", value: { text: part.text } } });
      // What the person pointed at belongs to what he says.
      else input.push(await this.#put(part.bytes, part.mediaType));
    }
    return { input, context, contextSources: [...sources] };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const index = await this.#index?.catch(() => undefined);
    await index?.[Symbol.asyncDispose]();
  }

  get #isHere(): boolean {
    return this.#link.reach.kind !== "remote";
  }

  async #file(file: string): Promise<PartInit> {
    const mediaType = MEDIA_TYPES[path.extname(file).toLowerCase()];
    if (mediaType === undefined)
      throw ForgeError.validation("image", `${file} is none that a model is shown: write a file that ends in ${Object.keys(MEDIA_TYPES).join(", ")}`);
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile() !== true) throw ForgeError.validation("image", `there is no file ${file}`);
    if (found.size > FILE_BYTES_MAX) throw ForgeError.validation("image", `${file} has more than ${FILE_BYTES_MAX} bytes`);
    return this.#put(await readFile(file), mediaType);
  }

  async #put(content: Uint8Array, mediaType: string): Promise<PartInit> {
    const sha256 = createHash("sha256").update(content).digest("hex");
    const { artifact } = await this.#link.call((client) => client.artifact.putArtifact({ content, mediaType, sha256 }));
    return { kind: { case: "artifact", value: artifact as ArtifactRef } };
  }
}
