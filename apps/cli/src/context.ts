import type { Terminal } from "./output/terminal.ts";

/** What a command is run with. */
export interface Context {
  readonly terminal: Terminal;
  readonly environment: NodeJS.ProcessEnv;
  /** Where relative paths begin. */
  readonly directory: string;
}

/** Options that every command takes. */
export interface CommonOptions {
  /** The project's directory, where a person named one. */
  readonly project?: string;
  readonly json?: boolean;
}

/** Options of commands that need a server. */
export interface ServerOptions extends CommonOptions {
  readonly foreground?: boolean;
  /** Of a control plane to talk to, in place of the project's own server. */
  readonly url?: string;
  /** In that control plane; absent: the credential's first. */
  readonly namespace?: string;
}
