import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { resolveWorkflow } from "../project/resolve-workflow.ts";

const EXAMPLES = fileURLToPath(new URL("../../../../examples", import.meta.url));

it.each([
  ["triage", "8308dc6098569a62b1038797a338ac5321c18419401f0c84b54cb1bb4bac161b"],
  ["worker/workflows/order.yaml", "2bcf6845d400f7510c34b58195531aab80229498fcefd80876d623ca2afe1f2f"],
])("the hash of examples/%s is what it was before steps had needs, lists and waits", async (reference, hash) => {
  expect((await resolveWorkflow(reference, { directory: EXAMPLES })).hash).toBe(hash);
});
