import { randomUUID } from "node:crypto";
import { Annotation, END, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { config, servePeer, step } from "./serve-peer.mts";

// A graph of nodes in a row. With durability "sync" each step's checkpoint is in PostgreSQL before the next one begins.

const saver = PostgresSaver.fromConnString(config.databaseUrl ?? "");
await saver.setup();

const State = Annotation.Root({ run: Annotation<string>(), last: Annotation<number>() });

function compile(steps: number) {
  const graph = new StateGraph(State) as StateGraph<typeof State, typeof State.State, typeof State.Update, string>;
  for (let index = 0; index < steps; index++) {
    graph.addNode(`step_${index}`, ({ run }) => ({ last: step(run, index) }));
    graph.addEdge(index === 0 ? START : `step_${index - 1}`, `step_${index}`);
  }
  graph.addEdge(`step_${steps - 1}`, END);
  return graph.compile({ checkpointer: saver });
}

const graphs = new Map<number, ReturnType<typeof compile>>();

servePeer({
  run: async (steps) => {
    const graph = graphs.get(steps) ?? compile(steps);
    graphs.set(steps, graph);
    const id = randomUUID();
    await graph.invoke({ run: id, last: -1 }, { configurable: { thread_id: id }, durability: "sync" });
    return id;
  },
  stop: () => saver.end(),
});
