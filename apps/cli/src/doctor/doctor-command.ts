import path from "node:path";
import { dataDirectoryOf } from "@forge/host/project";
import type { Context, ServerOptions } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { toForgeError } from "../output/error-report.ts";
import type { Style } from "../output/style.ts";
import { locateProject } from "../server/locate-project.ts";
import { readProjectSettings } from "../server/project-settings.ts";
import { remoteOf } from "../server/remote.ts";
import { checkProviderKeys, checkRemote, checkTokenFiles } from "./checks/credentials.ts";
import { checkDataDirectory } from "./checks/data-directory.ts";
import { checkDatabase } from "./checks/database.ts";
import { checkNode } from "./checks/node.ts";
import { checkGit, checkPython } from "./checks/programs.ts";
import { checkProjectFiles } from "./checks/project-files.ts";
import { checkProviders } from "./checks/providers.ts";
import { checkSandbox } from "./checks/sandbox.ts";
import { checkPort, checkServer } from "./checks/server.ts";
import { checkMcpServers, checkTrust } from "./checks/workspace.ts";
import { type Finding, problem } from "./finding.ts";
import { type Check, runChecks } from "./run-checks.ts";
import type { Subject } from "./subject.ts";

export interface DoctorOptions extends ServerOptions {
  readonly port?: number;
  readonly online?: boolean;
}

/** What a look has left open, a socket that nobody answers, does not keep the command from ending. */
const LEAVE_MS = 500;

/** `forge doctor`: what is wrong here, and what to do. */
export async function doctorCommand(context: Context, options: DoctorOptions): Promise<number> {
  const { terminal } = context;
  const early: Finding[] = [];
  const subject = await findSubject(context, options, early);
  const findings = [...early, ...(await runChecks(checksOf(subject)))];
  const problems = findings.filter(({ status }) => status === "problem").length;
  const warnings = findings.filter(({ status }) => status === "warning").length;
  if (options.json === true) terminal.print(JSON.stringify({ findings, problems, warnings }));
  else {
    for (const finding of findings) for (const line of linesOf(finding, terminal.style)) terminal.print(line);
    terminal.print();
    terminal.print(problems + warnings === 0 ? "Nothing is wrong." : `${count(problems, "problem")}, ${count(warnings, "warning")}`);
  }
  const code = problems === 0 ? EXIT.OK : EXIT.FAILED;
  setTimeout(() => process.exit(code), LEAVE_MS).unref();
  return code;
}

function checksOf(subject: Subject): readonly Check[] {
  return [
    { name: "node", look: async () => checkNode(process.version, process.execPath) },
    { name: "project", look: () => checkProjectFiles(subject) },
    { name: "data directory", look: () => checkDataDirectory(subject) },
    // Loading what serves takes longest on a busy machine.
    { name: "database", deadlineMs: 15_000, look: (signal) => checkDatabase(subject, signal) },
    { name: "server", look: (signal) => checkServer(subject, signal) },
    { name: "port", look: () => checkPort(subject) },
    { name: "tokens", look: () => checkTokenFiles(subject) },
    { name: "control plane", deadlineMs: 15_000, look: () => checkRemote(subject) },
    { name: "provider keys", look: () => checkProviderKeys(subject) },
    { name: "providers", deadlineMs: 20_000, look: (signal) => checkProviders(subject, signal) },
    { name: "sandbox", deadlineMs: 15_000, look: () => checkSandbox() },
    { name: "trust", deadlineMs: 15_000, look: () => checkTrust(subject) },
    { name: "mcp servers", deadlineMs: 15_000, look: () => checkMcpServers(subject) },
    { name: "python", look: (signal) => checkPython(subject, signal) },
    { name: "git", look: (signal) => checkGit(subject, signal) },
  ];
}

/** What can't be found is a finding, and everything else is looked at all the same. */
async function findSubject(context: Context, options: DoctorOptions, findings: Finding[]): Promise<Subject> {
  const { directory, environment } = context;
  const attempt = async <T>(check: string, advice: string, find: () => Promise<T> | T): Promise<T | undefined> => {
    try {
      return await find();
    } catch (error) {
      findings.push({ check, ...problem(toForgeError(error).message, advice) });
      return undefined;
    }
  };
  const located = await attempt("project", "go to the project's directory, or name it with --project", () =>
    locateProject(context, options, { hasData: true }),
  );
  const root = located?.root ?? path.resolve(directory, options.project ?? ".");
  const remote = await attempt("control plane", "set FORGE_URL and FORGE_TOKEN, or neither", () => remoteOf(context, options));
  // What is wrong with them is found with the project's files.
  const settings = await readProjectSettings(root, environment, { runsCode: true }).catch(() => undefined);
  return { environment, root, dataDirectory: dataDirectoryOf(root), settings, remote, port: options.port, online: options.online === true };
}

function linesOf({ check, status, message, advice }: Finding, style: Style): readonly string[] {
  const colour = ({ ok: "green", warning: "yellow", problem: "red" } as const)[status];
  return [`${style[colour](status.padEnd(8))} ${check}: ${message}`, ...(advice === undefined ? [] : [`         ${style.dim(advice)}`])];
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
