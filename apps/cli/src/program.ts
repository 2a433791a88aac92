import { VERSION } from "@forge/host/project";
import { Command, Option } from "commander";
import type { Action } from "./action.ts";
import { addAgentCommands } from "./agent/add-agent-commands.ts";
import { addArchiveCommand } from "./archive/add-archive-command.ts";
import { commandOptions, turnOption } from "./arguments/command-options.ts";
import { collect, collectLabel, oneOf, parseDuration, wholeNumber } from "./arguments/parsers.ts";
import { namespaceOption, urlOption } from "./arguments/remote-options.ts";
import { addBundleCommands } from "./bundle/add-bundle-commands.ts";
import type { Context } from "./context.ts";
import { addHistoryCommands } from "./history/add-history-commands.ts";
import { addMcpCommands } from "./mcp/add-mcp-commands.ts";
import { addProjectCommands } from "./project/add-project-commands.ts";
import { addRegisterCommand } from "./register/add-register-command.ts";
import { addRunControlCommands } from "./run-control/add-run-control-commands.ts";
import { addScheduleCommands } from "./schedule/add-schedule-commands.ts";
import { addSessionCommands } from "./session/add-session-commands.ts";
import { addTokenCommands } from "./token/add-token-commands.ts";
import { addWorkspaceCommands } from "./workspace/add-workspace-commands.ts";
import { addWorktreeCommands } from "./worktree/add-worktree-commands.ts";

const RUN_STATUSES = ["QUEUED", "RUNNING", "WAITING", "PAUSED", "CANCELLING", "COMPLETED", "COMPLETED_WITH_ERRORS", "FAILED", "CANCELLED"];
const SESSION_STATUSES = ["ACTIVE", "CLOSED"];
const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 10_000;

/** The command line. Each command's module is loaded when it runs, so that help and errors cost nothing. `onExit` gets the exit code of the one that ran. */
export function createProgram(context: Context, onExit: (code: number) => void): Command {
  const program = new Command("forge")
    .description("Runs AI agents and workflows durably, on PostgreSQL.")
    .version(VERSION)
    .showHelpAfterError("(add --help for what can be said)")
    .showSuggestionAfterError()
    .exitOverride();

  /** A command about this machine, with the options that all have. */
  const local = (usage: string, description: string, action: Action, parent: Command = program): Command => {
    const made = parent.command(usage).description(description);
    made
      .option("-p, --project <directory>", "the project; otherwise the nearest one above, or this directory")
      .option("--json", "for machines: JSON on standard output, errors as JSON on standard error")
      .action(async (...values: unknown[]) => {
        const positional = values.slice(0, -2) as (string | undefined)[];
        onExit(await action(context, positional, made.opts<never>()));
      });
    return made.exitOverride();
  };
  /** A command that talks to a server. */
  const command = (usage: string, description: string, action: Action, parent: Command = program): Command =>
    local(usage, description, action, parent).addOption(urlOption()).addOption(namespaceOption());
  const foreground = (): Option => new Option("--foreground", "serve the project in this process, and end that with the command; the default where CI is set");
  const label = (): Option => new Option("--label <key=value>", "a label; may be repeated").argParser(collectLabel);

  command("run <workflow>", "start a run of a workflow and follow it to its end", async (ctx, [reference], options) => {
    const { runCommand } = await import("./run/run-command.ts");
    return runCommand(ctx, reference as string, options);
  })
    .option("-i, --input <name=value>", "an input; name=@file reads a file, name=json:... takes JSON; may be repeated", collect)
    .option("--model <provider/model>", "replaces the model of every agent step")
    .addOption(label())
    .addOption(new Option("--approve", "answers yes to every question that a tool call raises").conflicts("deny"))
    .option("--deny", "answers no to every question that a tool call raises")
    .option("--priority <0-9>", "where something is scarce, runs of higher priority go first", wholeNumber(0, 9))
    .option("--concurrency-key <key>", "what runs share of which only so many may be under way, in place of the workflow's")
    .option("--concurrency-limit <number>", "with --concurrency-key: how many runs at a time; 1 unless told otherwise", wholeNumber(1, 1000))
    .addOption(commandOptions()[0])
    .addOption(new Option("-d, --detach", "starts the run and leaves").conflicts("foreground"))
    .addOption(foreground());

  command("runs", "list runs, newest first", async (ctx, _, options) => {
    const { runsCommand } = await import("./lists/list-command.ts");
    return runsCommand(ctx, options);
  })
    .option("--status <status>", `only those that are ${RUN_STATUSES.join(", ").toLowerCase()}`, oneOf(RUN_STATUSES))
    .addOption(label())
    .option("--limit <number>", "at most so many", wholeNumber(1, LIMIT_MAX), LIMIT_DEFAULT)
    .option("-w, --watch", "stay, and show what changes");

  command("sessions", "list sessions, newest first", async (ctx, _, options) => {
    const { sessionsCommand } = await import("./lists/list-command.ts");
    return sessionsCommand(ctx, options);
  })
    .option("--status <status>", `only those that are ${SESSION_STATUSES.join(", ").toLowerCase()}`, oneOf(SESSION_STATUSES))
    .addOption(label())
    .option("--limit <number>", "at most so many", wholeNumber(1, LIMIT_MAX), LIMIT_DEFAULT)
    .option("-w, --watch", "stay, and show what changes");

  command("inspect <id>", "show a run with its steps, or a session", async (ctx, [id], options) => {
    const { inspectCommand } = await import("./inspect/inspect-command.ts");
    return inspectCommand(ctx, id as string, options);
  })
    .addOption(new Option("--steps", "of a run: only its steps, with whole inputs and outputs").conflicts("stateHistory"))
    .option("--state-history", "of a run: every version of its state, and what each step changed");

  command("events <id>", "print the events of a run or session", async (ctx, [id], options) => {
    const { eventsCommand } = await import("./events/events-command.ts");
    return eventsCommand(ctx, id as string, options);
  })
    .option("-f, --follow", "stay, and print what comes")
    .option("--after <seq>", "begin after this seq", wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option("--children", "also the events of the sessions and runs that work for it")
    .option("--no-deltas", "leave out the pieces of answers and outputs")
    .addOption(
      new Option("--lifecycle", "of a run: its life as lines of JSON, RUN_START, STEP_START, STEP_COMPLETE, TOOL_START and so on").conflicts([
        "after",
        "children",
      ]),
    );

  command("approvals", "list what waits for an answer", async (ctx, _, options) => {
    const { approvalsCommand } = await import("./approvals/approvals-command.ts");
    return approvalsCommand(ctx, options);
  });

  command("approve <id> [approval]", "answer what a run or session waits for", async (ctx, [id, approval], options) => {
    const { approveCommand } = await import("./approvals/approve-command.ts");
    return approveCommand(ctx, id as string, approval, options);
  })
    .option("--deny", "answer no")
    .option("--comment <text>", "for the model")
    .addOption(new Option("--scope <scope>", "once, turn or session: how long --category or --rule holds").argParser(oneOf(["ONCE", "TURN", "SESSION"])))
    .addOption(
      new Option("--category <category>", "also allow changes, execution, evidence or all").argParser(oneOf(["CHANGES", "EXECUTION", "EVIDENCE", "ALL"])),
    )
    .option("--rule", "also allow calls of which this one's rule is true, as `forge approvals` shows it")
    .option("--edit <json>", "execute these arguments in place of the model's; @file reads them")
    .option("--stop", "answer no, and end the turn")
    .addOption(commandOptions()[0])
    .addOption(commandOptions()[1])
    .addOption(foreground());

  command("review <session>", "show what a session was asked, planned, changed, ran and proved", async (ctx, [id], options) => {
    const { reviewCommand } = await import("./review/review-command.ts");
    return reviewCommand(ctx, id as string, options);
  }).addOption(new Option("--markdown", "as Markdown, which is the default").conflicts("json"));

  command("cancel <id>", "stop a run, or a session's active turn, and wait until it has stopped", async (ctx, [id], options) => {
    const { cancelCommand } = await import("./cancel/cancel-command.ts");
    return cancelCommand(ctx, id as string, options);
  })
    .addOption(turnOption())
    .addOption(commandOptions()[0])
    .addOption(commandOptions()[1])
    .addOption(new Option("-d, --detach", "asks, and does not wait").conflicts("foreground"))
    .addOption(foreground());

  command("command <id>", "tell what became of a command whose answer was lost", async (ctx, [id], options) => {
    const { commandCommand } = await import("./commands/command-command.ts");
    return commandCommand(ctx, id as string, options);
  })
    .addOption(new Option("--of <id>", "the run or session that it was for").conflicts("created"))
    .addOption(new Option("--created <kind>", "what it was to create: session or run").argParser(oneOf(["SESSION", "RUN"])));

  addAgentCommands({ command, local, foreground });

  command("rpc", "speak to the project's server by lines of JSON, on standard input and output", async (ctx, _, options) => {
    const { rpcCommand } = await import("./rpc/rpc-command.ts");
    return rpcCommand(ctx, options);
  }).addOption(foreground());

  addRunControlCommands(command);
  addHistoryCommands(command);
  addArchiveCommand(command);
  addRegisterCommand(command);
  addSessionCommands(program, command, local);
  addScheduleCommands(program, command);
  addWorkspaceCommands(program, command);
  addWorktreeCommands(program, local);
  addMcpCommands(program, local);
  addTokenCommands(program, local);
  addProjectCommands(local);
  addBundleCommands(local);

  command("worker <file>", "serve the tools, functions and models that a file defines, in TypeScript or Python", async (ctx, [file], options) => {
    const { workerCommand } = await import("./worker/worker-command.ts");
    return workerCommand(ctx, file as string, options);
  })
    .option("--name <name>", "stable over restarts: a worker that joins under the name of another takes its place (default: the file's name)")
    .option("--queue <queue>", "what it serves; may be repeated (default: the project's own and `default`)", collect)
    .option("--slots <number>", "calls at once", wholeNumber(1, 10_000), 8)
    .option("--no-reload", "serve the file as it is now, whatever becomes of it")
    .addOption(foreground());

  command("doctor", "look what is wrong here, and say what to do", async (ctx, _, options) => {
    const { doctorCommand } = await import("./doctor/doctor-command.ts");
    return doctorCommand(ctx, options);
  })
    .option("--port <number>", "a port that a server is to listen on: whether it is free", wholeNumber(1, 65_535))
    .option("--online", "ask each provider whether it takes its key");

  command("config", "show every field of the configuration, and where its value comes from", async (ctx, _, options) => {
    const { configCommand } = await import("./config/config-command.ts");
    return configCommand(ctx, options);
  });

  local("up", "serve the project until Ctrl-C", async (ctx, _, options) => {
    const { upCommand } = await import("./up/up-command.ts");
    return upCommand(ctx, options);
  })
    .addOption(new Option("-d, --detach", "return once it is ready, and leave it running").conflicts(["dataDirectory", "temporary", "untilStdinEnds"]))
    .option("--port <number>", "the port (default: any free one)", wholeNumber(0, 65_535))
    .option("--host <address>", "the address to listen on (default: 127.0.0.1)")
    .option("--idle <duration>", "end when nobody has used it for so long", parseDuration)
    .option("--data-directory <directory>", "keep the data here instead of in the project's .forge/data")
    .addOption(new Option("--temporary", "keep the data in a temporary directory, which is removed at the end").conflicts("dataDirectory"))
    .option("--trusted-only", "run what the project brings only where it is trusted (see forge trust)")
    .option("--until-stdin-ends", "end when standard input does: for programs that start a server of their own");

  local("down", "end the project's server, after what is running", async (ctx, _, options) => {
    const { downCommand } = await import("./up/down-command.ts");
    return downCommand(ctx, options);
  }).option("--drain <duration>", "what runs gets so long to finish", parseDuration);

  return program;
}
