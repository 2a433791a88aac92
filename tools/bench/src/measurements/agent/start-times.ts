import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Section } from "../../report/row.ts";
import type { Scale } from "../../scale.ts";
import { median, spread } from "../../statistics.ts";
import { databaseStart } from "../cold-start.ts";
import { ForgeUser } from "./chat-prompt.ts";

const HELP_BEYOND_MS = 100;
const PROMPT_BEYOND_MS = 1_000;
const HELPS_PER_START = 5;

const NOTE =
  "From the start of the process. `forge --help` to its end, beside a Node.js that has nothing to do; both have their compiled code at hand. `forge chat` in a terminal, in an empty directory with an existing data directory and " +
  "no server, until its prompt is shown: the server starts in the background meanwhile, as it does for a person. The database alone is the start of the same PostgreSQL on an existing data directory of its own, until it takes connections.";

export async function measureStartTimes({ coldStarts }: Scale): Promise<Section> {
  const directory = await mkdtemp(path.join(tmpdir(), "forge-bench-starts-"));
  try {
    const user = await ForgeUser.create(path.join(directory, "home"));
    const project = path.join(directory, "project");
    await mkdir(project);
    const bare = path.join(directory, "bare");
    // What is made for the first time is measured elsewhere.
    await user.helpMs();
    await user.chatPromptMs(project);
    await databaseStart(bare);
    const helps: { readonly bareMs: number; readonly helpMs: number }[] = [];
    const prompts: { readonly databaseMs: number; readonly promptMs: number }[] = [];
    for (let index = 0; index < coldStarts; index++) {
      for (let help = 0; help < HELPS_PER_START; help++) helps.push({ bareMs: await user.bareNodeMs(), helpMs: await user.helpMs() });
      prompts.push({ databaseMs: (await databaseStart(bare)) * 1000, promptMs: await user.chatPromptMs(project) });
    }
    const helpBeyond = helps.map(({ bareMs, helpMs }) => helpMs - bareMs);
    const promptBeyond = prompts.map(({ databaseMs, promptMs }) => promptMs - databaseMs);
    return {
      title: "Until the first answer",
      note: NOTE,
      rows: [
        { name: "bare Node.js", unit: "ms", value: spread(helps.map(({ bareMs }) => bareMs)) },
        { name: "forge --help", unit: "ms", value: spread(helps.map(({ helpMs }) => helpMs)) },
        {
          name: "forge --help beyond bare Node.js",
          unit: "ms",
          value: spread(helpBeyond),
          target: { text: `at most ${HELP_BEYOND_MS} ms`, isMet: median(helpBeyond) <= HELP_BEYOND_MS },
        },
        { name: "database alone, existing data directory", unit: "ms", value: spread(prompts.map(({ databaseMs }) => databaseMs)) },
        { name: "forge chat, existing data directory: prompt", unit: "ms", value: spread(prompts.map(({ promptMs }) => promptMs)) },
        {
          name: "forge chat: prompt beyond the database",
          unit: "ms",
          value: spread(promptBeyond),
          target: { text: `at most ${PROMPT_BEYOND_MS} ms`, isMet: median(promptBeyond) <= PROMPT_BEYOND_MS },
        },
      ],
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
