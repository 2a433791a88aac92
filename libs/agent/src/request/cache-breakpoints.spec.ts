import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { markBreakpoints } from "./cache-breakpoints.ts";

const text = (value: string) => ({ type: "text" as const, text: value });
const tool = { type: "function" as const, name: "t", inputSchema: {} };

/** The system prompt, and then so many messages of a user's with one block each. */
function prompt(count: number, system = "Be brief."): LanguageModelV4Prompt {
  const users = Array.from({ length: count }, (_, index) => ({ role: "user" as const, content: [text(`${index}`)] }));
  return system === "" ? users : [{ role: "system", content: system }, ...users];
}

describe("cache breakpoints", () => {
  it.each([
    [1, [0, 1]],
    [15, [0, 15]],
    [16, [0, 1, 16]],
    [31, [0, 1, 16, 31]],
    [46, [0, 16, 31, 46]],
    [300, [0, 270, 285, 300]],
  ])("of %i blocks stand after the system prompt and roll with the end", (count, expected) => {
    expect(markBreakpoints(prompt(count), [tool]).messages).toEqual(expected);
  });

  it("leave no gap that the provider would not look back over, so that each request finds what the one before it wrote", () => {
    // Anthropic looks 20 blocks back from each breakpoint for one of an earlier request.
    for (let before = 1; before < 120; before++) {
      for (let more = 1; more <= 49; more++) {
        const earlier = new Set(markBreakpoints(prompt(before), []).messages.slice(1));
        const later = markBreakpoints(prompt(before + more), []).messages.slice(1);
        expect(later.some((mark) => [...earlier].some((written) => mark - written >= 0 && mark - written <= 20))).toBe(true);
      }
    }
  });

  it("never stand at thoughts or at text without characters, which can't carry one", () => {
    const { prompt: marked, messages } = markBreakpoints(
      [
        { role: "user", content: [text("a")] },
        { role: "assistant", content: [text("b"), { type: "reasoning", text: "hm" }, text("")] },
      ],
      [],
    );
    expect(messages).toEqual([1]);
    expect(marked[1]?.content).toEqual([
      { ...text("b"), providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } },
      { type: "reasoning", text: "hm" },
      text(""),
    ]);
  });

  it("stand at the tools where there is no system prompt", () => {
    const { tools, messages } = markBreakpoints(prompt(2, ""), [tool, { ...tool, name: "u" }]);
    expect(tools.map(({ providerOptions }) => providerOptions !== undefined)).toEqual([false, true]);
    expect(messages).toEqual([1]);
  });

  it("keep what a provider noted with a part", () => {
    const noted = { role: "assistant" as const, content: [{ ...text("a"), providerOptions: { anthropic: { citations: [] }, other: { x: 1 } } }] };
    expect(markBreakpoints([noted], []).prompt[0]?.content[0]).toMatchObject({
      providerOptions: { anthropic: { citations: [], cacheControl: {} }, other: { x: 1 } },
    });
  });
});
