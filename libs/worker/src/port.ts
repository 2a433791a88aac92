import type { Client } from "@forge/protocol";
import type { ArtifactService } from "@forge/protocol/artifact";
import type { SessionService } from "@forge/protocol/session";
import type { WorkerService } from "@forge/protocol/worker";

/** What a worker needs of a control plane; in process or over any wire. */
export interface ControlPlanePort {
  readonly worker: Client<typeof WorkerService>;
  readonly session: Pick<Client<typeof SessionService>, "readConversation" | "listChanges">;
  readonly artifact: Client<typeof ArtifactService>;
}
