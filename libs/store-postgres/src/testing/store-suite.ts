import { describe } from "vitest";
import type { TestDatabase } from "./database.ts";
import { describeAppend } from "./suite/append-suite.ts";
import { describeArchives } from "./suite/archive-suite.ts";
import { describeDefinitions } from "./suite/definition-suite.ts";
import { describeListings } from "./suite/listing-suite.ts";
import { describePrincipals } from "./suite/principal-suite.ts";
import { describeReplicas } from "./suite/replica-suite.ts";
import { describeRevisions } from "./suite/revision-suite.ts";
import { describeSchedules } from "./suite/schedule-suite.ts";
import { describeStreams } from "./suite/stream-suite.ts";
import { useSuite } from "./suite/suite.ts";
import { describeTaskAppends } from "./suite/task-append-suite.ts";
import { describeTasks } from "./suite/task-suite.ts";
import { describeWakeups } from "./suite/wakeup-suite.ts";
import { describeWorkers } from "./suite/worker-suite.ts";

/** What the port promises, held against one kind of server. */
export function describeStore(name: string, open: () => Promise<TestDatabase>): void {
  describe(`store on the ${name}`, () => {
    const suite = useSuite(open);
    describeAppend(suite);
    describeStreams(suite);
    describeArchives(suite);
    describeDefinitions(suite);
    describeListings(suite);
    describePrincipals(suite);
    describeRevisions(suite);
    describeSchedules(suite);
    describeTaskAppends(suite);
    describeTasks(suite);
    describeReplicas(suite);
    describeWorkers(suite);
    describeWakeups(suite);
  });
}
