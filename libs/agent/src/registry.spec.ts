import { describe, expect, it } from "vitest";
import { createProviderRegistry } from "./registry.ts";

const names = (env: Record<string, string>) => createProviderRegistry({ env }).providers.map((provider) => provider.name);
const problem = (env: Record<string, string>, name: string) =>
  createProviderRegistry({ env })
    .check()
    .find((status) => status.name === name)?.problem;

describe("provider registry", () => {
  it("serves demo and ollama without a key, and says what the others lack", () => {
    expect(names({})).toEqual(["demo", "ollama"]);
    expect(problem({}, "openai")).toBe("set OPENAI_API_KEY");
    expect(problem({}, "anthropic")).toBe("set ANTHROPIC_API_KEY");
    expect(problem({}, "google")).toBe("set GEMINI_API_KEY");
    expect(problem({}, "gemini")).toBe("set GEMINI_API_KEY");
  });

  it.each(["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"])("serves Google's models under both names with %s", (variable) => {
    expect(names({ [variable]: "k" })).toEqual(["demo", "google", "gemini", "ollama"]);
  });

  it("adds the path of the wire format to a base URL that names a host only", () => {
    const url = (env: Record<string, string>, name: string) =>
      createProviderRegistry({ env }).providers.find((provider) => provider.name === name)?.credentialRequest?.url;
    expect(url({ ANTHROPIC_BASE_URL: "https://api.anthropic.com", ANTHROPIC_API_KEY: "k" }, "anthropic")).toBe("https://api.anthropic.com/v1/models?limit=1");
    expect(url({ ANTHROPIC_BASE_URL: "http://127.0.0.1:1/proxy/" }, "anthropic")).toBe("http://127.0.0.1:1/proxy/models?limit=1");
    expect(url({ GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:1/" }, "gemini")).toBe("http://127.0.0.1:1/v1beta/models?pageSize=1");
  });

  it("refuses a file of models that can't be used", () => {
    expect(() => createProviderRegistry({ env: { FORGE_MODELS_FILE: "/nowhere/models.json" } })).toThrow(/models\.json can't be read/);
  });

  it("serves openai with a key, or with a base URL of one's own", () => {
    expect(names({ OPENAI_API_KEY: "k" })).toContain("openai");
    expect(names({ OPENAI_BASE_URL: "http://localhost:8000/v1" })).toContain("openai");
  });

  it("knows OpenAI's prices at OpenAI only", () => {
    const openai = (env: Record<string, string>) => createProviderRegistry({ env }).providers.find((provider) => provider.name === "openai");
    expect(openai({ OPENAI_API_KEY: "k" })?.listPrices).toBe(true);
    expect(openai({ OPENAI_BASE_URL: "http://localhost:8000/v1" })?.listPrices).toBe(false);
  });

  it.each([
    ["nonsense", /no URL/],
    ["ftp://host/v1", /http/],
    ["http://me:pw@host/v1", /user name or password/],
  ])("refuses the base URL %s", (url, expected) => {
    expect(problem({ OPENAI_BASE_URL: url, OPENAI_API_KEY: "k" }, "openai")).toMatch(expected);
    expect(problem({ OLLAMA_BASE_URL: url }, "ollama")).toMatch(expected);
  });

  it("refuses models that can't be served before anything starts", () => {
    const registry = createProviderRegistry({ env: {} });
    expect(() => registry.checkModel("demo/chat")).not.toThrow();
    expect(() => registry.checkModel("ollama/anything:7b")).not.toThrow();
    expect(() => registry.checkModel("demo/none")).toThrow(/Known are: demo\/chat/);
    expect(() => registry.checkModel("openai/gpt-5")).toThrow("openai/gpt-5 can't be used: openai: set OPENAI_API_KEY.");
    expect(() => registry.checkModel("who/what")).toThrow(/no model provider "who"/);
    expect(() => registry.checkModel("gpt-5")).toThrow(/provider\/model/);
  });
});
