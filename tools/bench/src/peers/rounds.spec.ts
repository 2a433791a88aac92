import { describe, expect, it } from "vitest";
import type { Round } from "../statistics.ts";
import type { Peer } from "./peer.ts";
import { openPeers, ratioRow, takeRounds } from "./rounds.ts";

const LOAD = { steps: 1, inFlight: 1, seconds: 1 };
const ROUND: Round = { count: 10, seconds: 1, latenciesMs: [1], cpuUs: 1 };
const silent = (): void => undefined;

function peer(name: string, taken: string[], failsAt = Number.POSITIVE_INFINITY): Peer {
  let count = 0;
  return {
    name,
    round: async () => {
      taken.push(name);
      if (++count >= failsAt) throw new Error("it\n  broke");
      return ROUND;
    },
    close: async () => undefined,
  };
}

describe("takeRounds", () => {
  it("takes turns, and does not count the first", async () => {
    const taken: string[] = [];
    const { rounds, failures } = await takeRounds([peer("a", taken), peer("b", taken)], LOAD, 2, Number.POSITIVE_INFINITY, silent);
    expect(taken).toEqual(["a", "b", "a", "b", "a", "b"]);
    expect([...rounds].map(([name, { length }]) => [name, length])).toEqual([
      ["a", 2],
      ["b", 2],
    ]);
    expect(failures).toEqual([]);
  });

  it("leaves out one that fails, says why, and goes on with the others", async () => {
    const taken: string[] = [];
    const { rounds, failures } = await takeRounds([peer("a", taken, 3), peer("b", taken)], LOAD, 3, Number.POSITIVE_INFINITY, silent);
    expect([...rounds.keys()]).toEqual(["b"]);
    expect(rounds.get("b")).toHaveLength(3);
    expect(failures).toEqual(["a failed in this run: it broke."]);
    expect(taken.filter((name) => name === "a")).toHaveLength(3);
  });

  it("counts one round of each when the time is over", async () => {
    const { rounds } = await takeRounds([peer("a", [])], LOAD, 5, 0, silent);
    expect(rounds.get("a")).toHaveLength(1);
  });
});

describe("openPeers", () => {
  it("leaves out one that does not come up", async () => {
    const { peers, failures } = await openPeers(
      [
        { name: "a", open: () => Promise.reject(new Error("no")) },
        { name: "b", open: () => Promise.resolve(peer("b", [])) },
      ],
      silent,
    );
    expect(peers.map(({ name }) => name)).toEqual(["b"]);
    expect(failures).toEqual(["a failed in this run: no."]);
  });
});

describe("ratioRow", () => {
  it("compares within a round, and holds the middle against the target", () => {
    expect(ratioRow("r", [4, 40, 10], [1, 10, 10], { least: 4 })).toMatchObject({
      value: { median: 4, min: 1, max: 4 },
      target: { text: "at least 4", isMet: true },
    });
    expect(ratioRow("r", [4, 40, 10], [2, 20, 10], { most: 1 })).toMatchObject({ value: { median: 2 }, target: { text: "at most 1", isMet: false } });
    expect(ratioRow("r", [4], [2])).not.toHaveProperty("target");
  });
});
