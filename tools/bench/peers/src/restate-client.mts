import { randomUUID } from "node:crypto";
import * as clients from "@restatedev/restate-sdk-clients";
import type { Bench } from "./restate-service.mts";
import { config, servePeer } from "./serve-peer.mts";

// Whoever calls the service through Restate's server, from a process of its own, as Forge's client does.

const ingress = clients.connect({ url: config.ingressUrl ?? "" });
const service = ingress.serviceClient<Bench>({ name: "bench" });
const sender = ingress.serviceSendClient<Bench>({ name: "bench" });

servePeer({
  run: async (steps) => {
    const run = randomUUID();
    await service.steps({ run, steps });
    return run;
  },
  start: async (run, steps) => {
    await sender.steps({ run, steps });
  },
  stop: () => Promise.resolve(),
});
