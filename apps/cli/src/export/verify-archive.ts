import type { ArchiveFile } from "./archive-files.ts";
import { CHAIN_START, chained, sha256 } from "./chain.ts";
import { type Manifest, ManifestSchema } from "./manifest.ts";
import type { Finding } from "./read-archive.ts";

export interface Verified {
  readonly manifest: Manifest | undefined;
  /** Events that the chain vouches for, as JSON. */
  readonly events: readonly ExportedEvent[];
}

/** An event as it is written, as far as it is looked at. */
export interface ExportedEvent {
  readonly seq?: string;
  readonly [field: string]: unknown;
}

const NAMES = ["manifest.json", "manifest.sha256", "events.jsonl", "review.json", "review.md"];

/** Compares an export's files with what they say of each other; each thing that does not fit is a finding with the file's name, and the event's where there is one. */
export function verifyArchive(files: readonly ArchiveFile[], head: string | undefined, findings: Finding[]): Verified {
  const texts = new Map<string, Uint8Array>();
  for (const { path, content } of files) {
    if (texts.has(path)) findings.push({ file: path, problem: "is there twice" });
    texts.set(path, content);
  }
  for (const name of NAMES) if (!texts.has(name)) findings.push({ file: name, problem: "is missing" });
  const manifest = readManifest(texts, findings);
  const { events, last } = readEvents(texts.get("events.jsonl"), findings);
  if (manifest === undefined) return { manifest, events };
  if (events.length !== manifest.events) findings.push({ file: "events.jsonl", problem: `has ${events.length} events, and ${manifest.events} were written` });
  if (last !== manifest.head) findings.push({ file: "events.jsonl", problem: `ends with ${last}, and ${manifest.head} was written` });
  if (head !== undefined && manifest.head !== head)
    findings.push({ file: "manifest.json", problem: `says that the chain ends with ${manifest.head}, and it is to end with ${head}` });
  for (const [name, hash] of [
    ["review.json", manifest.review_json],
    ["review.md", manifest.review_md],
  ] as const) {
    const content = texts.get(name);
    if (content !== undefined && sha256(content) !== hash) findings.push({ file: name, problem: "was changed" });
  }
  verifyArtifacts(texts, manifest, findings);
  return { manifest, events };
}

function readManifest(texts: ReadonlyMap<string, Uint8Array>, findings: Finding[]): Manifest | undefined {
  const content = texts.get("manifest.json");
  if (content === undefined) return undefined;
  const text = Buffer.from(content).toString("utf8");
  const said = Buffer.from(texts.get("manifest.sha256") ?? "").toString("utf8");
  if (said !== `${sha256(content)}\n`) findings.push({ file: "manifest.json", problem: "is not what manifest.sha256 says: one of them was changed" });
  try {
    return ManifestSchema.parse(JSON.parse(text));
  } catch (error) {
    findings.push({ file: "manifest.json", problem: `is no manifest: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}` });
    return undefined;
  }
}

function readEvents(content: Uint8Array | undefined, findings: Finding[]): { readonly events: readonly ExportedEvent[]; readonly last: string } {
  const text = Buffer.from(content ?? "").toString("utf8");
  // Read leniently, other bytes can stand for the same text.
  if (!Buffer.from(text, "utf8").equals(content ?? Buffer.alloc(0)))
    findings.push({ file: "events.jsonl", problem: "was changed: it has bytes that are no text" });
  const lines = text.split("\n");
  if (text !== "" && lines.pop() !== "") findings.push({ file: "events.jsonl", problem: "does not end with its last line's end" });
  let last = CHAIN_START;
  const events: ExportedEvent[] = [];
  for (const [index, line] of lines.entries()) {
    if (text === "") break;
    try {
      const { hash, event } = JSON.parse(line) as { readonly hash: string; readonly event: ExportedEvent };
      const own = JSON.stringify(event);
      const expected = chained(last, own);
      // Written again it must be the very line, so that not even a space is another one.
      if (hash !== expected || JSON.stringify({ hash, event }) !== line)
        findings.push({ file: "events.jsonl", problem: `line ${index + 1} was changed, or one before it is missing: event ${event.seq ?? "?"}` });
      last = hash;
      events.push(event);
    } catch {
      findings.push({ file: "events.jsonl", problem: `line ${index + 1} is no event` });
    }
  }
  return { events, last };
}

function verifyArtifacts(texts: ReadonlyMap<string, Uint8Array>, manifest: Manifest, findings: Finding[]): void {
  const expected = new Map(manifest.artifacts.map(({ sha256: hash, size }) => [`artifacts/${hash}`, { hash, size }]));
  for (const [path, { hash, size }] of expected) {
    const content = texts.get(path);
    if (content === undefined) findings.push({ file: path, problem: "is missing" });
    else if (content.length !== size || sha256(content) !== hash) findings.push({ file: path, problem: "was changed" });
  }
  for (const path of texts.keys()) if (!NAMES.includes(path) && !expected.has(path)) findings.push({ file: path, problem: "was not written by the export" });
}
