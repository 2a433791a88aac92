import { type Command, Option } from "commander";
import type { Action } from "../action.ts";
import { commandOptions } from "../arguments/command-options.ts";
import { collectLabel } from "../arguments/parsers.ts";

type AddCommand = (usage: string, description: string, action: Action) => Command;

/** Commands about runs that exist already: what they do next. */
export function addRunControlCommands(command: AddCommand): void {
  const [commandId, expectedSeq] = [() => commandOptions()[0], () => commandOptions()[1]];
  const foreground = (): Option => new Option("--foreground", "serve the project in this process, and end that with the command; the default where CI is set");
  const detach = (): Option => new Option("-d, --detach", "leave as soon as it is asked for").conflicts("foreground");

  command("resume <run>", "go on with a failed run where it failed, and follow it to its end", async (ctx, [id], options) => {
    const { resumeCommand } = await import("./resume-command.ts");
    return resumeCommand(ctx, id as string, options);
  })
    .addOption(commandId())
    .addOption(expectedSeq())
    .addOption(detach())
    .addOption(foreground());

  command("fork <run>", "start a run that shares another's history and begins with one of its steps, and follow it", async (ctx, [id], options) => {
    const { forkCommand } = await import("./fork-command.ts");
    return forkCommand(ctx, id as string, options);
  })
    .requiredOption("--from <step>", "the step that the new run begins with; the state is as it was before")
    .addOption(new Option("--label <key=value>", "a label, beside the other run's; may be repeated").argParser(collectLabel))
    .addOption(commandId())
    .addOption(expectedSeq())
    .addOption(detach())
    .addOption(foreground());

  command("replay <run>", "go through a run's history again, and call nothing", async (ctx, [id], options) => {
    const { replayCommand } = await import("./replay-command.ts");
    return replayCommand(ctx, id as string, options);
  }).option("--verify-state", "decide every step anew from the recorded results, and compare: inputs, branches, the state before and after");

  command("signal <run> <name>", "hand a signal to a run: to the step that waits for it, or to the next one that will", async (ctx, [id, name], options) => {
    const { signalCommand } = await import("./signal-command.ts");
    return signalCommand(ctx, id as string, name as string, options);
  })
    .option("-d, --data <json>", "what the step gets: JSON, or @file with JSON (default: null)")
    .addOption(commandId())
    .addOption(expectedSeq())
    .addOption(foreground());

  command("pause <run>", "let no step of a run begin until it is continued", async (ctx, [id], options) => {
    const { pauseCommand } = await import("./pause-command.ts");
    return pauseCommand(ctx, id as string, options);
  })
    .addOption(commandId())
    .addOption(expectedSeq())
    .addOption(foreground());

  command("continue <run>", "let the steps of a paused run begin again", async (ctx, [id], options) => {
    const { continueCommand } = await import("./pause-command.ts");
    return continueCommand(ctx, id as string, options);
  })
    .addOption(commandId())
    .addOption(expectedSeq())
    .addOption(foreground());
}
