// A program with a Forge of its own: nothing else has to run, and nothing is left when it ends.
import { commandHeader, followEvents } from "@forge/client";
import { StreamKind } from "@forge/protocol/common";
import { Forge, serve } from "@forge/sdk";
import { resolveWorkflow } from "@forge/workflow";
import { look, quote, take } from "./my-tools.ts";

await using forge = await Forge.local();
const worker = await serve({ url: forge.url, token: forge.workerToken, name: "shop", definitions: [look, take, quote] });

const { definition } = await resolveWorkflow("order", { directory: import.meta.dirname });
const inputs = { kind: { case: "json" as const, value: JSON.stringify({ item: "lamp", count: 2 }) } };
const { runId } = await forge.client.workflow.startRun({ header: commandHeader(), definition, inputs });

for await (const followed of followEvents(forge.client, { streams: [{ stream: { kind: StreamKind.RUN, id: runId } }] })) {
  if (followed.kind !== "event") continue;
  const { kind, stepId, payload } = followed.event;
  if (payload.case === "stepCompleted") console.log(stepId, payload.value.output?.kind.value);
  if (/^run\.(completed|failed|cancelled)$/.test(kind)) {
    console.log(kind);
    break;
  }
}
await worker.stop();
