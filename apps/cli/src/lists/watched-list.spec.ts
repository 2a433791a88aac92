import { describe, expect, it } from "vitest";
import { WatchedList } from "./watched-list.ts";

interface Item {
  readonly id: string;
  readonly at: number;
  readonly isShown?: boolean;
}

function setup(limit = 3) {
  const list = new WatchedList<Item>({
    limit,
    idOf: ({ id }) => id,
    belongs: ({ isShown }) => isShown !== false,
    createdAtMs: ({ at }) => at,
  });
  list.replace([
    { id: "c", at: 3 },
    { id: "a", at: 1 },
  ]);
  return { list, ids: () => list.items.map(({ id }) => id).join("") };
}

describe("a list that is watched", () => {
  it("takes what is new in at its place, newest first, and no more than fits", () => {
    const { list, ids } = setup();
    list.change({ id: "b", at: 2 });
    expect(ids()).toBe("cba");
    list.change({ id: "d", at: 4 });
    expect(ids()).toBe("dcb");
    list.change({ id: "z", at: 0 });
    expect(ids()).toBe("dcb");
  });

  it("shows what has changed in its newest state, at its place", () => {
    const { list, ids } = setup();
    const changed = { id: "a", at: 1, isShown: true };
    list.change(changed);
    expect(ids()).toBe("ca");
    expect(list.items[1]).toBe(changed);
  });

  it("leaves out what does not belong there any more", () => {
    const { list, ids } = setup();
    list.change({ id: "c", at: 3, isShown: false });
    expect(ids()).toBe("a");
  });
});
