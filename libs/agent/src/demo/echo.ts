import type { DemoModel } from "./script.ts";

/** Says the user's last text again, at once: for tests and measurements. */
export const echo: DemoModel = ({ lastUserText }) => [{ kind: "text", text: lastUserText, pace: 0 }];
