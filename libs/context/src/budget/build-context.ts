import { setTimeout as sleep } from "node:timers/promises";
import type { Problem } from "../files/problem.ts";
import { userConfigDirectory } from "../files/user-directory.ts";
import { type GitFacts, gitFacts } from "../git/git-facts.ts";
import type { IndexStatus } from "../index/index-status.ts";
import type { RenderedMap } from "../map/render-map.ts";
import { type ReferencedMedia, readReferences } from "../references/read-references.ts";
import { readRules } from "../rules/read-rules.ts";
import { findSkills } from "../skills/find-skills.ts";
import { Budget } from "./budget.ts";
import type { ContextReport } from "./context-report.ts";
import { PREAMBLE, projectText } from "./project-text.ts";
import { bytesOfTokens } from "./tokens.ts";

/** What a turn's context may hold at most, whatever the budget. */
const TEXT_BYTES_MAX = 256 * 1024;
const SOURCES_MAX = 256;
const SOURCE_LENGTH_MAX = 1_024;
export const BUDGET_TOKENS = 24_000;
/** Rules leave this much to what the person names himself. */
const RULES_SHARE = 0.4;
const SKILLS_SHARE = 0.1;
/** More of a map is read by nobody. */
const MAP_TOKENS_MAX = 4_096;
/** A map in fewer tokens shows nothing. */
const MAP_TOKENS_MIN = 64;
/** How long a turn waits for what has changed since the last one. */
const INDEX_WAIT_MS = 1_500;

/** What of a RepositoryIndex a context is built with. */
export interface MapSource {
  readonly status: IndexStatus;
  update(): Promise<IndexStatus>;
  map(request: { budgetTokens: number; message: string; paths: readonly string[] }): Promise<RenderedMap>;
}

export interface ContextOptions {
  /** The workspace. */
  readonly root: string;
  /** What the person says; its references are read. */
  readonly message: string;
  /** Files and directories at hand besides, relative to the workspace. */
  readonly paths?: readonly string[];
  /** Of all texts; default: 24,000, at most what a turn's context can hold. */
  readonly budgetTokens?: number;
  /** The person's own; default: as `userConfigDirectory` says. `null`: none. */
  readonly configDirectory?: string | null;
  /** Absent: no map. */
  readonly index?: MapSource;
  /** How long to wait for the index; default: 1.5 s. What is known by then is drawn. */
  readonly indexWaitMs?: number;
  /** Default: true. */
  readonly git?: boolean;
  readonly signal?: AbortSignal;
}

/** A text for the model, or an image or document to be put as an artifact. */
export type ContextPart = { readonly kind: "text"; readonly text: string } | ({ readonly kind: "media" } & ReferencedMedia);

export interface BuiltContext {
  readonly parts: readonly ContextPart[];
  /** The rules and references in it: paths relative to the workspace, at most 256 of at most 1,024 characters. */
  readonly sources: readonly string[];
  readonly report: ContextReport;
}

/**
 * What a model is told before a message: the rules that hold for the files at hand, what the message refers to, what git says, the skills there are, and a map of
 * the repository, in this priority and within a budget. What is left out or can't be read is in the report. Errors: validation, where there is no workspace; the
 * signal's reason.
 */
export async function buildContext(options: ContextOptions): Promise<BuiltContext> {
  const { root, message, signal } = options;
  signal?.throwIfAborted();
  const configDirectory = options.configDirectory === null ? undefined : (options.configDirectory ?? userConfigDirectory());
  const asked = options.git === false ? Promise.resolve(undefined) : gitFacts(root, { signal });
  const updated = options.index === undefined ? undefined : within(options.index.update(), options.indexWaitMs ?? INDEX_WAIT_MS, signal);
  const references = readReferences(root, message);
  const atHand = [...new Set([...(options.paths ?? []), ...[...references.texts, ...references.media].map(({ source }) => source)])];
  const rules = readRules({ root, paths: atHand, configDirectory });
  const skills = findSkills({ root, configDirectory });
  const problems = [...rules.problems, ...references.problems, ...skills.problems];

  const budget = new Budget(Math.min(bytesOfTokens(options.budgetTokens ?? BUDGET_TOKENS), TEXT_BYTES_MAX));
  budget.reserve(PREAMBLE);
  // The person's own and the nearest are kept where not all fit; the order in which they are told stays.
  const nearestFirst = [...rules.rules.filter(({ scope }) => scope === "user"), ...rules.rules.filter(({ scope }) => scope === "workspace").toReversed()];
  const rulesShare = budget.share(RULES_SHARE);
  for (const { source, scope, text, importedBy } of nearestFirst) {
    const kind = scope === "user" ? "own_rules" : "rules";
    budget.add("rules", source, text, (shown) => projectText(kind, source, shown, importedBy === undefined ? {} : { importedBy }), rulesShare);
  }
  for (const { kind, source, text, lines } of references.texts)
    budget.add("reference", lines === undefined ? source : `${source}:${lines}`, text, (shown) =>
      projectText(kind, source, shown, lines === undefined ? {} : { lines }),
    );
  for (const media of references.media) budget.addMedia(media.source, media.bytes.length);
  const git = await asked;
  if (git !== undefined) budget.add("git", ".git", factsOf(git), (shown) => projectText("git", ".git", shown));
  const list = skills.skills.map(({ name, description }) => `- ${name}: ${description.replaceAll(/\s+/g, " ")}`).join("\n");
  if (list !== "") budget.add("skills", "skills", list, (shown) => projectText("skills", "tools.skill", shown), budget.share(SKILLS_SHARE));
  if (options.index !== undefined)
    problems.push(...(await addMap(options.index, updated as Promise<Outcome<IndexStatus>>, budget, { message, atHand, signal })));
  signal?.throwIfAborted();

  const told = rules.rules.map(({ source }) => source).filter((source) => budget.has("rules", source));
  const texts = [...told.map((source) => ["rules", source] as const), ["skills", "skills"], ["map", "map"], ["git", ".git"]] as const;
  const own = texts.flatMap(([kind, source]) => budget.textOf(kind, source) ?? []);
  const referred = budget.textsOf("reference");
  const isTold = own.length + referred.length > 0;
  const parts: ContextPart[] = !isTold ? [] : [PREAMBLE, ...own, ...referred].map((text) => ({ kind: "text", text }));
  parts.push(...references.media.map((media) => ({ kind: "media" as const, ...media })));
  const read = [
    ...references.texts.filter(({ source, lines }) => budget.has("reference", lines === undefined ? source : `${source}:${lines}`)),
    ...references.media,
  ];
  return {
    parts,
    sources: [...new Set([...told, ...read.map(({ source }) => source)])].filter((source) => source.length <= SOURCE_LENGTH_MAX).slice(0, SOURCES_MAX),
    report: { ...budget.report(isTold), problems, git, index: options.index?.status },
  };
}

async function addMap(
  index: MapSource,
  updated: Promise<Outcome<IndexStatus>>,
  budget: Budget,
  { message, atHand, signal }: { message: string; atHand: readonly string[]; signal: AbortSignal | undefined },
): Promise<Problem[]> {
  const source = "map";
  const update = await updated;
  if (update.kind === "failed") return [{ source, message: update.message }];
  const problems: Problem[] = [];
  const { sources, parsed, files } = index.status;
  if (update.kind === "late")
    problems.push({
      source,
      message:
        sources === 0 ? `the index is still being built: ${files} files are found` : `the index is still being built: ${parsed} of ${sources} files are read`,
    });
  const around = projectText("repository_map", "definitions by file, with their lines", "");
  const budgetTokens = Math.min(MAP_TOKENS_MAX, budget.remainingTokens(around));
  if (budgetTokens < MAP_TOKENS_MIN) {
    budget.leaveOut("map", source, "no room is left for it");
    return problems;
  }
  const drawn = await within(index.map({ budgetTokens, message, paths: atHand }), INDEX_WAIT_MS, signal);
  if (drawn.kind !== "done") return [...problems, { source, message: drawn.kind === "late" ? "it could not be drawn in time" : drawn.message }];
  const { text, leftOut } = drawn.value;
  if (text !== "")
    budget.add(
      "map",
      source,
      text,
      (shown) => projectText("repository_map", "definitions by file, with their lines", shown),
      undefined,
      leftOut > 0 ? `${leftOut} definitions are not in it` : undefined,
    );
  return problems;
}

function factsOf({ branch, commit, dirtyFiles, isDirtyCut }: GitFacts): string {
  const changed = dirtyFiles === undefined ? "not counted" : `${isDirtyCut ? "more than " : ""}${dirtyFiles}`;
  return [`branch: ${branch ?? "none is checked out"}`, ...(commit === undefined ? [] : [`commit: ${commit}`]), `changed files: ${changed}`].join("\n");
}

type Outcome<T> = { readonly kind: "done"; readonly value: T } | { readonly kind: "late" } | { readonly kind: "failed"; readonly message: string };

/** What became of it within some time. The signal's reason is the caller's to throw. */
async function within<T>(work: Promise<T>, timeMs: number, signal: AbortSignal | undefined): Promise<Outcome<T>> {
  const over = new AbortController();
  const late = sleep(timeMs, undefined, { signal: signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]), ref: true }).then(
    () => ({ kind: "late" }) as const,
    () => ({ kind: "late" }) as const,
  );
  const done = work.then(
    (value) => ({ kind: "done", value }) as const,
    (error: unknown) => ({ kind: "failed", message: (error as Error).message }) as const,
  );
  const outcome = await Promise.race([done, late]);
  over.abort();
  return outcome;
}
