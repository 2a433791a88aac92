import { isCancel, select } from "@clack/prompts";

export interface InterruptQuestion {
  readonly what: "run" | "turn";
  /** Whether what runs goes on after this process. */
  readonly outlives: boolean;
  /** Takes the question away. */
  readonly signal: AbortSignal;
}

export type InterruptAnswer = "detach" | "cancel" | "wait";

/** What a person who pressed Ctrl-C wants; pressed again it means: away from here. */
export async function askAboutInterrupt({ what, outlives, signal }: InterruptQuestion): Promise<InterruptAnswer> {
  const answer = await select<InterruptAnswer>({
    message: `The ${what} is not over.`,
    options: [
      { value: "detach", label: "Detach", hint: outlives ? `the ${what} goes on in the background` : `the ${what} goes on when Forge is next started here` },
      { value: "cancel", label: "Cancel it" },
      { value: "wait", label: "Wait for it" },
    ],
    signal,
  });
  if (!isCancel(answer)) return answer;
  return signal.aborted ? "wait" : "detach";
}
