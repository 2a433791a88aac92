import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { EventSchema } from "@forge/protocol/event";
import { durationMs } from "@bufbuild/protobuf/wkt";
import { runDecider } from "../run-decider.ts";
import { testContext } from "../../testing/context.ts";
import { stampDraft } from "../../recorder.ts";
import { functionStep, startRun, workflow, returned, json, literal, path, artifact, returnedValue } from "./run-fixture.ts";
import { isActive, type RunState } from "../state.ts";
import type { RunCommand } from "../run-command.ts";
void durationMs; void fromBinary; void toBinary; void EventSchema;
const ids = { next: 1 };
const isArtifact = process.argv[3] === "artifact";
function run(definition: Parameters<typeof startRun>[0]): { ms: number; steps: number; first: number } {
  let state: RunState = runDecider.initial();
  let seq = 0;
  let steps = 0;
  const arts: Record<string, string> = { big: '{"v":1}' };
  const exec = (command: RunCommand) => {
    runDecider.needs(state, command);
    const context = testContext({ seq, ids, streamId: "00000000-0000-8000-8000-0000000000aa", artifacts: arts });
    const decision = runDecider.decide(state, command, context);
    if ("rejection" in decision) throw new Error(decision.rejection.message);
    for (const draft of decision.events) {
      seq++;
      const event = stampDraft("run", draft, context, seq);
      state = runDecider.evolve(state, event);
      runDecider.commands(state, event);
      if (event.payload.case === "stepCompleted") steps++;
    }
    const map = new Map(runDecider.outstanding(state).map((t) => [t.key, t]));
    runDecider.listing(state);
    return map;
  };
  const t0 = performance.now();
  let tasks = exec(startRun(definition));
  const t1 = performance.now();
  while (isActive(state)) {
    const [key] = tasks.keys();
    if (key === undefined) throw new Error("stuck");
    runDecider.deltaIds(state, key);
    tasks = exec(isArtifact ? returnedValue(key, artifact("big")) : returned(key, { v: 1 }));
  }
  return { ms: performance.now() - t1, steps, first: t1 - t0 };
}
const sequence = (n: number, extra: object = {}) => workflow(Array.from({ length: n }, (_, i) => functionStep(`s${i}`, { ...(i > 0 ? { inputs: { it: path(`steps.s${i - 1}.v`) } } : {}), ...extra })));
const wide = (n: number) => workflow([functionStep("root"), ...Array.from({ length: n - 1 }, (_, i) => functionStep(`s${i}`, { needs: ["root"] }))]);
const chain = (n: number) => workflow(Array.from({ length: n }, (_, i) => functionStep(`s${i}`, i > 0 ? { needs: [`s${i - 1}`], inputs: { it: path(`steps.s${i - 1}.v`) } } : {})));
const list = (n: number) => workflow([functionStep("each", { forEach: { items: literal(Array.from({ length: n }, (_, i) => i)) }, inputs: { it: path("item") } })]);
const shapes: Record<string, (n: number) => ReturnType<typeof workflow>> = { sequence, wide, chain, list };
const which = process.argv[2]?.split(",") ?? Object.keys(shapes);
for (const name of which) {
  const make = shapes[name]!;
  for (let i = 0; i < 20; i++) run(make(100));
  const per = (n: number, times: number) => { let best = Infinity, first = 0; for (let i = 0; i < times; i++) { const r = run(make(n)); const v = r.ms / r.steps * 1000; if (v < best) { best = v; first = r.first; } } return [best, first] as const; };
  const [a, fa] = per(100, 60);
  const [b, fb] = per(10_000, 3);
  console.log(name, "100:", a.toFixed(1), "us/step; 10000:", b.toFixed(1), "us/step; ratio", (b / a).toFixed(2), "start ms", fa.toFixed(1), fb.toFixed(1));
}
