import { execa } from "execa";

interface ComposeOptions {
  readonly root: string;
  readonly project: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Building images fetches and compiles what they need. */
const COMMAND_MS_MAX = 15 * 60_000;
const WAIT_MS_MAX = 3 * 60_000;
const LOOK_MS = 500;

/** A project of Compose's, by whichever of its two command lines is installed. */
export class Compose {
  readonly #words: readonly [string, ...string[]];
  readonly #options: ComposeOptions;

  private constructor(words: readonly [string, ...string[]], options: ComposeOptions) {
    this.#words = words;
    this.#options = options;
  }

  static async find(options: ComposeOptions): Promise<Compose> {
    for (const words of [["docker", "compose"], ["docker-compose"]] as const) {
      const [file, ...args] = words;
      const { failed } = await execa(file, [...args, "version"], { reject: false, timeout: 30_000 });
      if (!failed) return new Compose([...words], options);
    }
    throw new Error("neither `docker compose` nor `docker-compose` is installed");
  }

  /** Runs a command of Compose, its output on ours. */
  async run(args: readonly string[]): Promise<void> {
    await this.#execute(args, "inherit");
  }

  /** Runs a program in a service's container, and returns what it printed. */
  async inside(service: string, ...command: readonly string[]): Promise<string> {
    return await this.#execute(["exec", "-T", service, ...command], "pipe");
  }

  /** What the engine knows of a service's container, by a template of `docker inspect`. */
  async inspect(service: string, template: string): Promise<string> {
    const id = await this.#execute(["ps", "--quiet", service], "pipe");
    return (await execa("docker", ["inspect", "--format", template, id], { timeout: 30_000 })).stdout;
  }

  /** kill -9 of a service's first process, and a new start: an engine does not start again what a person has killed. */
  async kill(service: string): Promise<void> {
    const startedAt = await this.inspect(service, "{{.State.StartedAt}}");
    await this.run(["kill", "-s", "SIGKILL", service]);
    await this.run(["up", "--detach", "--no-build"]);
    if ((await this.inspect(service, "{{.State.StartedAt}}")) === startedAt) throw new Error(`${service} was not killed`);
  }

  /** Waits until a service's health check passes. */
  async healthy(service: string): Promise<void> {
    const untilMs = Date.now() + WAIT_MS_MAX;
    for (;;) {
      const health = await this.inspect(service, "{{.State.Health.Status}}").catch(() => "not there yet");
      if (health === "healthy") return;
      if (Date.now() > untilMs) throw new Error(`${service} is ${health} after ${WAIT_MS_MAX / 1_000} s`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  async #execute(args: readonly string[], stdout: "inherit" | "pipe"): Promise<string> {
    const [file, ...words] = this.#words;
    const { root, project, environment } = this.#options;
    const options = { cwd: root, env: environment, stdin: "ignore", stdout, stderr: "inherit", timeout: COMMAND_MS_MAX } as const;
    const result = await execa(file, [...words, "--project-name", project, ...args], options);
    return (result.stdout ?? "").trim();
  }
}
