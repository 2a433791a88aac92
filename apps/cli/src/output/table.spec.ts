import { describe, expect, it } from "vitest";
import { table } from "./table.ts";
import { widthOf } from "./text.ts";

describe("table", () => {
  const columns = [
    { title: "NAME", shrinks: true },
    { title: "MS", align: "right" },
  ] as const;

  it("aligns columns by their width on a terminal", () => {
    expect(
      table(
        columns,
        [
          ["parse", "5"],
          ["後", "1200"],
        ],
        80,
      ),
    ).toEqual(["NAME     MS", "parse     5", "後     1200"]);
  });

  it("cuts the column that shrinks, so that no line is wider than the terminal", () => {
    const lines = table(columns, [["a-very-long-name-of-a-step", "5"]], 20);
    expect(lines[1]).toBe("a-very-long-nam…   5");
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(20);
  });
});
