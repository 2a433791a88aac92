import pino from "pino";
import { watchForStalls } from "./stall-watch.ts";

/** What the test process gave this one. */
export function configOf<Config>(): Config {
  watchForStalls();
  return JSON.parse(process.env["FORGE_TEST"] ?? "{}") as Config;
}

/** Warnings and worse go to stderr, which the test process keeps. */
export const logger = pino({ level: "debug" }, pino.destination({ fd: 2, sync: true }));

/** Says that this process is ready; it ends with the test process, or when it is asked to. */
export function ready(said: object, stop: () => Promise<void>): void {
  process.on("disconnect", () => process.exit(1));
  process.on("message", (message) => {
    if ((message as { type?: string }).type !== "stop") return;
    stop().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, "could not stop");
        process.exit(1);
      },
    );
  });
  process.send?.({ type: "ready", ...said });
}
