import { type Command, Option } from "commander";
import type { Action } from "../action.ts";
import { wholeNumber } from "../arguments/parsers.ts";

type AddCommand = (usage: string, description: string, action: Action) => Command;

/** Commands about what became of a run. */
export function addHistoryCommands(command: AddCommand): void {
  command("state-diff <run>", "show what changed between two versions of a run's state", async (ctx, [id], options) => {
    const { stateDiffCommand } = await import("./state-diff-command.ts");
    return stateDiffCommand(ctx, id as string, options);
  })
    .option("--from <version>", "0: before the first step (default: 0)", wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option("--to <version>", "n: after the nth step that ended (default: the newest)", wholeNumber(0, Number.MAX_SAFE_INTEGER));

  command("visualize <run>", "show a run as a picture: one HTML file, or in the terminal", async (ctx, [id], options) => {
    const { visualizeCommand } = await import("./visualize-command.ts");
    return visualizeCommand(ctx, id as string, options);
  })
    .addOption(new Option("--ascii", "the graph, in the terminal").conflicts(["timeline", "output"]))
    .addOption(new Option("--timeline", "when each step ran, in the terminal").conflicts(["output"]))
    .option("-o, --output <file>", "where the HTML goes (default: .runs/<run>/visualization.html)");
}
