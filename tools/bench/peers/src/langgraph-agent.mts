import { randomUUID } from "node:crypto";
import { HumanMessage } from "@langchain/core/messages";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import { TEXT, TURNS_PER_SESSION } from "../../src/measurements/turn-contents.ts";
import { config, servePeer } from "./serve-peer.mts";

// An agent without tools, whose model answers at once what it is told: a run is one turn of a conversation, which is kept in PostgreSQL.

const saver = PostgresSaver.fromConnString(config.databaseUrl ?? "");
await saver.setup();
const agent = createReactAgent({ llm: new FakeListChatModel({ responses: [TEXT] }), tools: [], checkpointSaver: saver });

let thread = randomUUID();
let turns = 0;

servePeer({
  run: async () => {
    if (turns === TURNS_PER_SESSION) [thread, turns] = [randomUUID(), 0];
    turns++;
    await agent.invoke({ messages: [new HumanMessage(TEXT)] }, { configurable: { thread_id: thread }, durability: "sync" });
    return thread;
  },
  stop: () => saver.end(),
});
