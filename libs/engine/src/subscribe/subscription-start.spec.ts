import { expect, it } from "vitest";
import { SubscriptionStart } from "./subscription-start.ts";

function setup() {
  const asked: string[] = [];
  const store = {
    heads: async (streams: readonly { namespace: string; streamId: string }[]) => {
      asked.push(`heads of ${streams.map(({ streamId }) => streamId).join()}`);
      return streams.filter(({ streamId }) => streamId !== "gone").map((name) => ({ ...name, kind: "run" as const, seq: 7 }));
    },
    incarnation: async () => {
      asked.push("incarnation");
      return `incarnation ${asked.length}`;
    },
  };
  return { asked, start: new SubscriptionStart(store) };
}

it("asks once for all that begin together, a stream once however many follow it", async () => {
  const { asked, start } = setup();
  const heads = Promise.all(["a", "b", "a", "gone"].map((id) => start.head("n", id)));
  const incarnations = Promise.all([1, 2, 3].map(() => start.incarnation()));
  expect((await heads).map((head) => head?.seq)).toEqual([7, 7, 7, undefined]);
  expect(new Set(await incarnations).size).toBe(1);
  expect(asked.toSorted()).toEqual(["heads of a,b,gone", "incarnation"]);
});

it("asks anew for one that begins after the answer", async () => {
  const { asked, start } = setup();
  const first = await start.incarnation();
  expect(await start.incarnation()).not.toBe(first);
  expect(asked).toHaveLength(2);
});

it("tells everybody that asked of a failure", async () => {
  const start = new SubscriptionStart({ heads: () => Promise.reject(new Error("no")), incarnation: () => Promise.reject(new Error("no")) });
  const answers = await Promise.allSettled([start.head("n", "a"), start.head("n", "b"), start.incarnation()]);
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
});
