import { describe, expect, it } from "vitest";
import { defaultModel } from "./default-model.ts";

const none = () => Promise.reject(new Error("nobody there"));
const of = (environment: Record<string, string>, configured?: string, read: (url: string) => Promise<string> = none) =>
  defaultModel({ environment, configured, read });

describe("the model of a conversation for which none was named", () => {
  it("is the demo model without a key, and otherwise what a key is for", async () => {
    expect(await of({})).toBe("demo/chat");
    expect(await of({ ANTHROPIC_API_KEY: "k" })).toMatch(/^anthropic\//);
    expect(await of({ OPENAI_API_KEY: "k" })).toMatch(/^openai\//);
    expect(await of({ OPENAI_API_KEY: "k", OPENAI_MODEL: "mine" })).toBe("openai/mine");
  });

  it("is what somebody has said, before any key", async () => {
    expect(await of({ FORGE_MODEL: "ollama/x", OPENAI_API_KEY: "k" }, "openai/y")).toBe("ollama/x");
    expect(await of({ OPENAI_API_KEY: "k" }, "demo/echo")).toBe("demo/echo");
  });

  it("is the first one that a server of one's own lists", async () => {
    const asked: string[] = [];
    const read = async (url: string) => {
      asked.push(url);
      return JSON.stringify({ data: [{ id: "local-7b" }, { id: "other" }] });
    };
    expect(await of({ OPENAI_BASE_URL: "http://127.0.0.1:8000/v1/" }, undefined, read)).toBe("openai/local-7b");
    expect(asked).toEqual(["http://127.0.0.1:8000/v1/models"]);
    expect(await of({ OPENAI_BASE_URL: "http://127.0.0.1:8000/v1" })).toBe("demo/chat");
  });
});
