import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { nowMs } from "./clock.ts";

/** As it runs from this repository. */
export const FORGE = fileURLToPath(new URL("../../../../../apps/cli/src/main.js", import.meta.url));
const WAIT_MS_MAX = 120_000;
/** What a person's line is typed behind. */
const PROMPT = "›";
const END_OF_INPUT = "\u0004";

/** `forge` of a person who has nothing but what is in a directory of his own. */
export class ForgeUser {
  readonly #environment: NodeJS.ProcessEnv;

  private constructor(environment: NodeJS.ProcessEnv) {
    this.#environment = environment;
  }

  static async create(home: string): Promise<ForgeUser> {
    await mkdir(home, { recursive: true });
    const kept = Object.entries(process.env).filter(([name]) => !/^(?:FORGE_.*|DATABASE_URL|CI|NO_COLOR|.*_API_KEY|.*_BASE_URL)$/.test(name));
    const directories = { XDG_CACHE_HOME: path.join(home, "cache"), XDG_CONFIG_HOME: path.join(home, "config"), XDG_STATE_HOME: path.join(home, "state") };
    return new ForgeUser({ ...Object.fromEntries(kept), HOME: home, ...directories, TERM: "xterm" });
  }

  /** Milliseconds from the process's start to its end. */
  async helpMs(): Promise<number> {
    const began = nowMs();
    const { stdout } = await promisify(execFile)(process.execPath, [FORGE, "--help"], { env: this.#environment, timeout: WAIT_MS_MAX });
    const ms = nowMs() - began;
    if (!stdout.startsWith("Usage: forge")) throw new Error(`forge --help printed ${JSON.stringify(stdout.slice(0, 200))}`);
    return ms;
  }

  /** The same of a Node.js that has nothing to do. */
  async bareNodeMs(): Promise<number> {
    const began = nowMs();
    await promisify(execFile)(process.execPath, ["--eval", "0"], { env: this.#environment, timeout: WAIT_MS_MAX });
    return nowMs() - began;
  }

  /** Milliseconds from the start of `forge chat` in a terminal to its prompt. Leaves it then, and ends the project's server, so that the next one begins as this one did. */
  async chatPromptMs(project: string): Promise<number> {
    // `script` gives it a terminal; it asks for nothing but to be read.
    const words = [process.execPath, FORGE, "chat", "--model", "demo/echo"].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
    const began = nowMs();
    const child = spawn("script", ["--quiet", "--return", "--flush", "--command", words, "/dev/null"], { cwd: project, env: this.#environment });
    const timer = setTimeout(() => child.kill("SIGKILL"), WAIT_MS_MAX);
    const exited = once(child, "exit");
    let shown = "";
    let promptMs: number | undefined;
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
      if (promptMs !== undefined || !shown.includes(PROMPT)) return;
      promptMs = nowMs() - began;
      child.stdin.write(END_OF_INPUT);
    });
    try {
      await exited;
    } finally {
      clearTimeout(timer);
      await promisify(execFile)(process.execPath, [FORGE, "down", "--project", project], { env: this.#environment, timeout: WAIT_MS_MAX });
    }
    if (promptMs === undefined) throw new Error(`forge chat ended without a prompt: ${JSON.stringify(shown.slice(-500))}`);
    return promptMs;
  }
}
