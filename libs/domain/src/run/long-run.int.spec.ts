import { RunStatus } from "@forge/protocol/workflow";
import { expect, it } from "vitest";
import { functionStep, path, runOf, workflow } from "./testing/run-fixture.ts";
import { runView } from "./view.ts";

it("goes through ten thousand steps, each reading the one before it, to its end", () => {
  const steps = Array.from({ length: 10_000 }, (_, index) =>
    index === 0 ? functionStep("s0") : functionStep(`s${index}`, { inputs: { before: path(`steps.s${index - 1}.n`) } }),
  );
  const run = runOf(workflow(steps));
  for (let index = 0; index < 10_000; index++) run.return({ n: index });
  expect(run.state.status).toBe(RunStatus.COMPLETED);
  expect(run.events.filter(({ payload }) => payload.case === "stepCompleted")).toHaveLength(10_000);
  const view = runView(run.events);
  expect(view.steps.at(-1)?.input["before"]?.kind.value).toBe("9998");
  // The state of a run that has ended holds nothing that only going on needs.
  expect(run.state.steps.length).toBe(0);
});
