import { pino } from "pino";
import type { StatementCounter } from "./count-statements.ts";
import { reachableBytes } from "./memory.ts";
import { ENVIRONMENT_VARIABLE, type ListingAnswer, type MemoryAnswer, type Question, type WritesAnswer } from "./messages.ts";

/** What the measuring process told this one. */
export function configOf<Config>(): Config {
  return JSON.parse(process.env[ENVIRONMENT_VARIABLE] ?? "{}") as Config;
}

/** Warnings and worse go to stderr, where they stand beside the table. */
export const logger = pino({ level: "warn" }, pino.destination({ fd: 2, sync: true }));

/** Says that this process is ready, answers questions, and ends when it is told to or when the measuring process has gone. */
export function serve(
  ready: object,
  options: { readonly stop: () => Promise<void>; readonly writes?: () => WritesAnswer["writes"]; readonly statements?: StatementCounter },
): void {
  process.on("disconnect", () => process.exit(1));
  process.on("message", (question: Question) => {
    if (question.type === "writes") {
      const { user, system } = process.cpuUsage();
      const writes = options.writes?.();
      process.send?.({ type: "writes", writes, cpuUs: user + system, statements: options.statements?.count() });
      return;
    }
    if (question.type === "listing") {
      process.send?.({ type: "listing", statement: options.statements?.listing() } satisfies ListingAnswer);
      return;
    }
    if (question.type === "memory") {
      process.send?.({ type: "memory", bytes: reachableBytes() } satisfies MemoryAnswer);
      return;
    }
    options.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, "could not stop");
        process.exit(1);
      },
    );
  });
  process.send?.(ready);
}
