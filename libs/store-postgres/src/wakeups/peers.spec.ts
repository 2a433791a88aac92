import { expect, it } from "vitest";
import { Peers } from "./peers.ts";

function setup() {
  let nowMs = 0;
  const peers = new Peers(() => nowMs);
  return {
    peers,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

it("takes others for present while it could not hear them", () => {
  const { peers } = setup();
  expect(peers.present).toBe(true);
  peers.hears(true);
  expect(peers.present).toBe(false);
  peers.hears(false);
  expect(peers.present).toBe(true);
});

it("tells one that it did not know from one that it heard before, and forgets who is silent for 30 s", () => {
  const { peers, pass } = setup();
  peers.hears(true);
  expect([peers.heard(), peers.heard(), peers.present]).toEqual([true, false, true]);
  pass(29_999);
  expect(peers.present).toBe(true);
  pass(1);
  expect([peers.present, peers.heard()]).toEqual([false, true]);
});
