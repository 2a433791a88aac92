import { testDatabases } from "./testing/database.ts";
import { describeStore } from "./testing/store-suite.ts";

for (const { name, open } of testDatabases()) describeStore(name, open);
