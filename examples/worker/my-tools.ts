import { defineFunction, defineTool, ErrorCode, ForgeError } from "@forge/sdk";
import { z } from "zod";

const STOCK = new Map([
  ["lamp", { price: 2_400, count: 12 }],
  ["chair", { price: 8_900, count: 3 }],
]);

const item = z.string().describe("What is looked for, for example lamp.");

function find(name: string): { price: number; count: number } {
  const found = STOCK.get(name.toLowerCase());
  if (found === undefined)
    throw new ForgeError(ErrorCode.NOT_FOUND, `There is no ${name}. There are: ${[...STOCK.keys()].join(", ")}.`, { reason: "ITEM_NOT_FOUND" });
  return found;
}

/** A model may call this without being asked about: it only reads. */
export const look = defineTool({
  name: "stock.look",
  description: "Says how many of an item there are, and what one costs, in cents.",
  input: z.object({ item }),
  risk: "read",
  idempotent: true,
  run: ({ item }) => find(item),
});

/** Taking twice is not taking once, so this is not idempotent: a call that was lost is never made again by itself. */
export const take = defineTool({
  name: "stock.take",
  description: "Takes items out of the stock.",
  input: z.object({ item, count: z.number().int().min(1).max(100) }),
  risk: "change",
  timeoutMs: 10_000,
  run: ({ item, count }, { logger, idempotencyKey }) => {
    const found = find(item);
    if (found.count < count) throw new ForgeError(ErrorCode.CONFLICT, `There are only ${found.count} of ${item}.`, { reason: "OUT_OF_STOCK" });
    found.count -= count;
    logger.info("taken", { item, count, idempotencyKey });
    return { left: found.count };
  },
});

/** A step of the workflow beside this file. */
export const quote = defineFunction({
  name: "pricing.quote",
  input: z.object({ item, count: z.coerce.number().int().min(1) }),
  run: ({ item, count }) => ({ item, count, cents: find(item).price * count }),
});
