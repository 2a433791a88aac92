import * as restate from "@restatedev/restate-sdk";
import { config, servePeer, step } from "./serve-peer.mts";

// The service that Restate's server calls: each `ctx.run` is an entry of the server's journal before the next begins.

const bench = restate.service({
  name: "bench",
  handlers: {
    steps: async (ctx: restate.Context, { run, steps }: { readonly run: string; readonly steps: number }): Promise<number> => {
      let last = 0;
      for (let index = 0; index < steps; index++) last = await ctx.run(`step_${index}`, () => step(run, index));
      return last;
    },
  },
});
export type Bench = typeof bench;

// A line for each call would be measured too.
await restate.serve({ services: [bench], port: config.port, logger: () => undefined });

servePeer({
  run: () => Promise.reject(new Error("the service does not call itself")),
  stop: () => Promise.resolve(),
});
