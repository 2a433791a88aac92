import { appendFileSync } from "node:fs";
import { measure } from "../../src/load.ts";
import type { FailedAnswer, PeerConfig, RoundAnswer, RoundQuestion, StartAnswer, StartQuestion } from "../../src/peers/messages.ts";

type PeerQuestion = RoundQuestion | StartQuestion | { readonly type: "stop" };

/** What the measuring process told this one. */
export const config = JSON.parse(process.env["FORGE_BENCH"] ?? "{}") as PeerConfig;

/** What a step does: nothing, or a line in the log where one is kept. */
export function step(run: string, index: number): number {
  if (config.log !== undefined) appendFileSync(config.log, `${run} ${index}\n`);
  return index;
}

export interface PeerProgram {
  /** Runs once, from start to end; resolves with its id. */
  readonly run: (steps: number) => Promise<string>;
  /** Starts a run and resolves once it is recorded. Absent: the peer takes no part in the recovery. */
  readonly start?: (id: string, steps: number) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** Says that this process is ready, answers questions, and ends when it is told to or when the measuring process has gone. */
export function servePeer(program: PeerProgram): void {
  const answer = async (question: PeerQuestion): Promise<RoundAnswer | StartAnswer> => {
    switch (question.type) {
      case "round": {
        const ids: string[] = [];
        const round = await measure(question.inFlight, question, async () => void ids.push(await program.run(question.steps)));
        return { type: "round", round, ids };
      }
      case "start":
        await Promise.all(question.ids.map(async (id) => await program.start?.(id, question.steps)));
        return { type: "started" };
      case "stop":
        await program.stop();
        process.exit(0);
    }
  };
  process.on("disconnect", () => process.exit(1));
  process.on("message", (question: PeerQuestion) => {
    answer(question).then(
      (message) => process.send?.(message),
      (error: unknown) => process.send?.({ type: "failed", message: error instanceof Error ? error.message : String(error) } satisfies FailedAnswer),
    );
  });
  process.send?.({ type: "ready" });
}
