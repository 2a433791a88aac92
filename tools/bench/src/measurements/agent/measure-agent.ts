import { openDatabase } from "../../database.ts";
import { describeMachine, type Machine } from "../../machine.ts";
import type { Section } from "../../report/row.ts";
import type { Scale } from "../../scale.ts";
import { createCommitTable } from "../commit.ts";
import { startAgentFleet } from "./agent-fleet.ts";
import type { AgentScale } from "./agent-scale.ts";
import { measureFirstToken } from "./first-token.ts";
import { measureLoopOverhead } from "./loop-overhead.ts";
import { measureRepository } from "./open-repository.ts";
import { measureSandboxStart } from "./sandbox-start.ts";
import { measureStartTimes } from "./start-times.ts";

export const AGENT_SECTIONS = ["loop", "token", "sandbox", "repository", "start"] as const;
export type AgentSection = (typeof AGENT_SECTIONS)[number];

/** What the agent loop, its tools and its command cost; the sections that are wanted, in the order of their names. */
export async function measureAgent(
  wanted: (name: AgentSection) => boolean,
  scale: Scale & AgentScale,
  progress: (text: string) => void,
): Promise<{ readonly machine: Machine; readonly sections: readonly Section[] }> {
  const sections: Section[] = [];
  await using cleanup = new AsyncDisposableStack();
  const database = await openDatabase(2);
  cleanup.defer(() => database.close());
  const machine = await describeMachine(database.serverVersion);
  if (wanted("loop") || wanted("token")) {
    const { connection, pool } = database;
    await createCommitTable(pool);
    const fleet = await startAgentFleet(connection);
    try {
      if (wanted("loop")) {
        progress("the loop");
        sections.push(await measureLoopOverhead(fleet, pool, scale));
      }
      if (wanted("token")) {
        progress("the first token");
        sections.push(await measureFirstToken(fleet, pool, scale));
      }
    } finally {
      // The others are measured without it.
      await fleet.close();
    }
  }
  if (wanted("sandbox")) {
    progress("the sandbox");
    sections.push(await measureSandboxStart(scale));
  }
  if (wanted("repository")) {
    progress(`a repository of ${scale.repositoryFiles} files`);
    sections.push(await measureRepository(scale));
  }
  if (wanted("start")) {
    progress("starts of forge");
    sections.push(await measureStartTimes(scale));
  }
  return { machine, sections };
}
