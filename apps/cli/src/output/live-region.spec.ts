import { describe, expect, it } from "vitest";
import { createLiveRegion } from "./live-region.ts";

/** What a terminal shows of what was written: knows only what the region uses. */
function screen(written: string): string[] {
  const lines = [""];
  let row = 0;
  // oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
  for (const [, up, below, text] of written.matchAll(/\u001B\[(\d+)A|\u001B\[(J)|\u001B\[\?25[lh]|([^\u001B])/g)) {
    if (up !== undefined) row -= Number(up);
    else if (below !== undefined) lines.splice(row, lines.length, "");
    else if (text === "\n") lines[++row] ??= "";
    else if (text !== undefined && text !== "\r") lines[row] += text;
  }
  return lines.slice(0, -1);
}

describe("live region", () => {
  it("draws in place, keeps lines above, and leaves only those", () => {
    let written = "";
    const region = createLiveRegion(
      (text) => (written += text),
      () => 20,
      { hidesCursor: true },
    );
    region.draw(["step 1", "  detail"]);
    region.draw(["step 2"]);
    expect(screen(written)).toEqual(["step 2"]);
    region.keep(["done 1"]);
    expect(screen(written)).toEqual(["done 1", "step 2"]);
    region.close();
    expect(screen(written)).toEqual(["done 1"]);
    expect(written.endsWith("\u001B[?25h")).toBe(true);
  });

  it("cuts lines that would wrap and then could not be taken back", () => {
    let written = "";
    const region = createLiveRegion(
      (text) => (written += text),
      () => 10,
      { hidesCursor: false },
    );
    region.draw(["a line of more than ten columns"]);
    expect(screen(written)).toEqual(["a line o…"]);
    expect(written).not.toContain("\u001B[?25l");
  });
});
