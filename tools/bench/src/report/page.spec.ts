import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { formatMarkdown, formatNumber, formatShortfalls, formatText } from "./format.ts";
import { AGENT_LOOP, BESIDE_PEERS, MEASURED, replaceMeasured, UNDER_LOAD } from "./page.ts";
import type { Section } from "./row.ts";

const PAGE = "# Title\n\n<!-- measured: begin. Written by `npm run bench`. -->\n\nold\n\n<!-- measured: end -->\n\nafter\n";

const SECTIONS: readonly Section[] = [
  {
    title: "Speed",
    note: "A note.",
    rows: [
      {
        name: "slow",
        unit: "/s",
        value: { median: 1234.5, min: 1000, max: 2000 },
        ratio: { value: 0.512, to: "fast" },
        target: { text: "at least 0.6 of fast", isMet: false },
      },
      { name: "small", unit: "ms", value: { median: 1.2345, min: 1, max: 2 }, target: { text: "at most 2 ms", isMet: true } },
    ],
  },
];

describe("replaceMeasured", () => {
  it("changes nothing but what lies between the markers, however often", () => {
    const once = replaceMeasured(PAGE, "new");
    expect(once).toBe(PAGE.replace("old", "new"));
    expect(replaceMeasured(once, "new")).toBe(once);
  });

  it("changes the peers' part and no other", () => {
    const page = `${PAGE}${BESIDE_PEERS.begin}\n\nold\n\n${BESIDE_PEERS.end}\n`;
    const changed = replaceMeasured(page, "beside", BESIDE_PEERS);
    expect(changed.startsWith(PAGE)).toBe(true);
    expect(changed).toContain(`${BESIDE_PEERS.begin}\n\nbeside\n\n${BESIDE_PEERS.end}`);
    expect(replaceMeasured(changed, "new")).toContain("beside");
    expect(() => replaceMeasured(PAGE, "beside", BESIDE_PEERS)).toThrow("between");
  });

  it("finds a place for each part in the page itself", () => {
    const page = readFileSync(new URL("../../../../docs/reference/performance.md", import.meta.url), "utf8");
    for (const part of [MEASURED, AGENT_LOOP, UNDER_LOAD, BESIDE_PEERS])
      expect(replaceMeasured(page, "new", part)).toContain(`${part.begin}\n\nnew\n\n${part.end}`);
  });

  it("refuses a page without markers", () => {
    expect(() => replaceMeasured("# Title", "new")).toThrow("between");
  });
});

describe("the table", () => {
  it("has the same facts for a terminal and for the page", () => {
    const row = /slow +1235 +1000 +2000 +\/s +0\.512 of fast +at least 0\.6 of fast +not met/;
    expect(formatText(SECTIONS)).toMatch(row);
    expect(formatMarkdown(SECTIONS)).toContain("| slow | 1235 | 1000 | 2000 | /s | 0.512 of fast | at least 0.6 of fast | not met |");
  });

  it("says plainly what falls short, and only that", () => {
    expect(formatShortfalls(SECTIONS)).toBe("In this run these fell short:\n\n- slow: 0.512 of fast, and the target is at least 0.6 of fast.");
    expect(formatShortfalls([])).toBe("Every target was met in this run.");
  });

  it("shows no more digits than a measurement has", () => {
    expect([0.123456, 12.3456, 123.456, 5, Number.NaN].map(formatNumber)).toEqual(["0.123", "12.3", "123", "5", "-"]);
  });
});
