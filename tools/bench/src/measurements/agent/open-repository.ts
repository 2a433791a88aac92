import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { buildContext, RepositoryIndex } from "@forge/context";
import type { Row, Section } from "../../report/row.ts";
import type { Scale } from "../../scale.ts";
import { median, spread } from "../../statistics.ts";
import type { AgentScale } from "./agent-scale.ts";
import { ForgeUser } from "./chat-prompt.ts";
import { nowMs } from "./clock.ts";
import { openObservedCommands } from "./observed-command.ts";
import { lstatPassMs, planTree, type TreePlan, writeTree } from "./repository-tree.ts";

const PROMPT_BEYOND_MS = 300;
const SECOND_OPEN_PASSES = 3;
const MANIFEST_PASSES = 1.5;
const SMALL_FILES = 10;
const PASSES = 5;
const INDEX_MS_MAX = 300_000;
const POLL_MS = 1;
const MESSAGE = "What does value10 return?";

const NOTE =
  "One in ten of the files is a small TypeScript source; there is no git history. The prompt is that of `forge chat` in a terminal on an existing data directory, in the repository and in one of " +
  `${SMALL_FILES} files, which take turns. The first context is what a turn begins with, built at once after the first open; it waits for the index for a while, and goes on without what is not known by then. ` +
  "A bare pass is one lstat of each file and directory by its known path, in one thread, with what the kernel has in memory. The second open is from the index's constructor until all files are known to be as they were. " +
  "The manifest after a command is from its end to the end of its call, less the same in the small one; the command writes one file, which must be what is found to have changed.";

/** A workspace with what Forge keeps of it outside. */
interface Workspace {
  readonly root: string;
  readonly plan: TreePlan;
}

async function makeWorkspace(root: string, files: number): Promise<Workspace> {
  await mkdir(root);
  const plan = planTree(files);
  writeTree(root, plan);
  return { root, plan };
}

function passMs({ root, plan }: Workspace): number {
  return median(Array.from({ length: PASSES }, () => lstatPassMs(root, plan)));
}

/** Until all is known. Throws where the index does not know as many files as there are. */
async function untilReady(index: RepositoryIndex, files: number): Promise<void> {
  const until = nowMs() + INDEX_MS_MAX;
  // It tells its status when it likes; a millisecond is nothing beside what is measured.
  while (index.status.state !== "ready") {
    if (index.status.state === "failed" || nowMs() > until) throw new Error(`the index did not become ready: ${JSON.stringify(index.status)}`);
    await delay(POLL_MS);
  }
  if (index.status.files !== files) throw new Error(`a repository of ${files} files was indexed as ${index.status.files}`);
}

interface Opened {
  readonly passMs: number;
  readonly constructorMs: number;
  readonly contextMs: number;
  readonly firstMs: number;
  readonly secondMs: number;
}

/** Opens it for the first time, and again with what was kept. */
async function measureOpen(workspace: Workspace, dataDirectory: string): Promise<Opened> {
  const { root, plan } = workspace;
  const files = plan.files.length;
  const pass = passMs(workspace);
  const began = nowMs();
  const first = new RepositoryIndex({ root, dataDirectory });
  const constructorMs = nowMs() - began;
  let [contextMs, firstMs] = [0, 0];
  try {
    const { report } = await buildContext({ root, message: MESSAGE, configDirectory: null, index: first });
    contextMs = nowMs() - began;
    if (report.index === undefined) throw new Error("a context was built without the index");
    await untilReady(first, files);
    firstMs = nowMs() - began;
  } finally {
    await first[Symbol.asyncDispose]();
  }
  const beganAgain = nowMs();
  const second = new RepositoryIndex({ root, dataDirectory });
  try {
    await untilReady(second, files);
    return { passMs: pass, constructorMs, contextMs, firstMs, secondMs: nowMs() - beganAgain };
  } finally {
    await second[Symbol.asyncDispose]();
  }
}

interface Manifest {
  readonly passMs: number;
  readonly afterMs: number;
  readonly smallMs: number;
}

async function measureManifest(large: Workspace, small: Workspace, directory: string, repetitions: number): Promise<Manifest[]> {
  await using cleanup = new AsyncDisposableStack();
  const open = (workspace: Workspace, name: string) => {
    const commands = openObservedCommands(workspace.root, path.join(directory, name));
    cleanup.defer(() => commands.close());
    return commands;
  };
  const commands = { large: open(large, "large-state"), small: open(small, "small-state") };
  // The first call looks at everything for the first time; files that were just written are read once more by the second.
  for (const each of [commands.large, commands.large, commands.small, commands.small]) await each.afterMs();
  const measured: Manifest[] = [];
  for (let index = 0; index < repetitions; index++)
    measured.push({ passMs: passMs(large), afterMs: await commands.large.afterMs(), smallMs: await commands.small.afterMs() });
  return measured;
}

async function measurePrompts(user: ForgeUser, large: Workspace, small: Workspace, repetitions: number) {
  // The first start makes the data directory, and is another one's business.
  for (const { root } of [large, small]) await user.chatPromptMs(root);
  const prompts: { readonly largeMs: number; readonly smallMs: number }[] = [];
  for (let index = 0; index < repetitions; index++)
    prompts.push({ smallMs: await user.chatPromptMs(small.root), largeMs: await user.chatPromptMs(large.root) });
  return prompts;
}

function ofPasses(name: string, values: readonly { readonly ms: number; readonly passMs: number }[], passes: number): Row {
  const ratio = median(values.map(({ ms, passMs: pass }) => ms / pass));
  return {
    name,
    unit: "ms",
    value: spread(values.map(({ ms }) => ms)),
    ratio: { value: ratio, to: "a bare pass" },
    target: { text: `at most ${passes} bare passes`, isMet: ratio <= passes },
  };
}

export async function measureRepository({ repositoryFiles, coldStarts }: AgentScale & Pick<Scale, "coldStarts">): Promise<Section> {
  const directory = await mkdtemp(path.join(tmpdir(), "forge-bench-repository-"));
  try {
    const large = await makeWorkspace(path.join(directory, "large"), repositoryFiles);
    const small = await makeWorkspace(path.join(directory, "small"), SMALL_FILES);
    const opened: Opened[] = [];
    for (let index = 0; index < coldStarts; index++) opened.push(await measureOpen(large, path.join(directory, `data-${index}`)));
    const manifests = await measureManifest(large, small, directory, 3 * coldStarts);
    const prompts = await measurePrompts(await ForgeUser.create(path.join(directory, "home")), large, small, coldStarts);
    const beyond = prompts.map(({ largeMs, smallMs }) => largeMs - smallMs);
    return {
      title: `A repository of ${repositoryFiles} files`,
      note: NOTE,
      rows: [
        { name: `prompt in ${SMALL_FILES} files`, unit: "ms", value: spread(prompts.map(({ smallMs }) => smallMs)) },
        { name: "prompt in the repository", unit: "ms", value: spread(prompts.map(({ largeMs }) => largeMs)) },
        {
          name: `prompt in the repository beyond that in ${SMALL_FILES} files`,
          unit: "ms",
          value: spread(beyond),
          target: { text: `at most ${PROMPT_BEYOND_MS} ms`, isMet: median(beyond) <= PROMPT_BEYOND_MS },
        },
        { name: "opening the index: until its constructor returns", unit: "ms", value: spread(opened.map(({ constructorMs }) => constructorMs)) },
        { name: "first context", unit: "ms", value: spread(opened.map(({ contextMs }) => contextMs)) },
        { name: "index complete, first open", unit: "ms", value: spread(opened.map(({ firstMs }) => firstMs)) },
        { name: "a bare pass", unit: "ms", value: spread([...opened, ...manifests].map(({ passMs: pass }) => pass)) },
        ofPasses(
          "index validated, second open",
          opened.map(({ secondMs, passMs: pass }) => ({ ms: secondMs, passMs: pass })),
          SECOND_OPEN_PASSES,
        ),
        ofPasses(
          "manifest after a command",
          manifests.map(({ afterMs, smallMs, passMs: pass }) => ({ ms: afterMs - smallMs, passMs: pass })),
          MANIFEST_PASSES,
        ),
      ],
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
