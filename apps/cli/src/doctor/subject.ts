import type { Context } from "../context.ts";
import type { ProjectSettings } from "../server/project-settings.ts";
import type { Remote } from "../server/remote.ts";

/** What the doctor looks at, as far as it could be found. */
export interface Subject {
  readonly environment: Context["environment"];
  /** The project's directory, which need not exist. */
  readonly root: string;
  readonly dataDirectory: string;
  /** Absent where they can't be read, which is a finding of its own. */
  readonly settings?: ProjectSettings;
  /** The control plane that --url or FORGE_URL names. */
  readonly remote?: Remote;
  /** Where a server is to listen. */
  readonly port?: number;
  /** Whether providers are asked over the network. */
  readonly online: boolean;
}
