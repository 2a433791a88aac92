import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createProviderRegistry } from "../registry.ts";
import { KEY } from "../testing/provider-call.ts";
import { startWireServer, statusReply, type WireServer } from "../testing/wire-server.ts";

let server: WireServer;
beforeEach(async () => {
  server = await startWireServer("/v1");
});
afterEach(() => server.close());

const ENVIRONMENTS: Readonly<Record<string, (url: string) => Record<string, string>>> = {
  openai: (url) => ({ OPENAI_BASE_URL: url, OPENAI_API_KEY: KEY }),
  anthropic: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY }),
  google: (url) => ({ GOOGLE_BASE_URL: url, GOOGLE_GENERATIVE_AI_API_KEY: KEY }),
  gemini: (url) => ({ GEMINI_BASE_URL: url, GOOGLE_API_KEY: KEY }),
  ollama: (url) => ({ OLLAMA_BASE_URL: url, OLLAMA_API_KEY: KEY }),
};

const check = (provider: string, url = server.baseUrl, options = {}) =>
  createProviderRegistry({ env: ENVIRONMENTS[provider]?.(url) ?? {} }).checkCredentials(provider, options);

describe.each(Object.keys(ENVIRONMENTS))("the credential check of %s", (provider) => {
  it("asks for the list of models with the key in a header, and is content with any", async () => {
    server.enqueue(statusReply(200, { data: [] }));
    expect(await check(provider)).toEqual({ provider, result: "ok", message: "" });
    const [request] = server.requests;
    expect(request).toMatchObject({ method: "GET", bodyText: "" });
    expect(request?.path).toMatch(/^\/v1\/models(\?\w+=1)?$/);
    const { authorization, "x-api-key": anthropicKey, "x-goog-api-key": googleKey } = request?.headers ?? {};
    expect(authorization ?? anthropicKey ?? googleKey).toMatch(new RegExp(`^(Bearer )?${KEY}$`));
  });

  it.each([401, 403])("is refused with HTTP %i, and shows no key", async (status) => {
    server.enqueue(statusReply(status, { error: { message: `no such key ${KEY}` } }));
    const { result, message } = await check(provider);
    expect(result).toBe("refused");
    expect(message).toMatch(/did not accept the key \(HTTP 40\d\)\. It says: .*Set [A-Z_]+_API_KEY/);
    expect(message).not.toContain(KEY);
  });

  it("can't reach it where it fails, hangs or is not there", async () => {
    server.enqueue(statusReply(500, "boom"));
    expect(await check(provider)).toMatchObject({ result: "unreachable", message: expect.stringContaining("HTTP 500") });
    server.enqueue(() => new Promise(() => undefined));
    expect(await check(provider, server.baseUrl, { timeoutMs: 50 })).toMatchObject({
      result: "unreachable",
      message: expect.stringContaining("no answer within 50 ms"),
    });
    const gone = server.baseUrl;
    await server.close();
    expect(await check(provider, gone)).toMatchObject({ result: "unreachable", message: expect.stringMatching(/ECONNREFUSED.*_BASE_URL/) });
  });
});

describe("the credential check", () => {
  it("knows Google's way of refusing a key", async () => {
    server.enqueue(statusReply(400, { error: { message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" } }));
    expect((await check("gemini")).result).toBe("refused");
  });

  it("says what to set where nothing is, and has nothing to ask where no key is needed", async () => {
    const registry = createProviderRegistry({ env: {} });
    expect(await registry.checkCredentials("anthropic")).toEqual({
      provider: "anthropic",
      result: "not_configured",
      message: "anthropic: set ANTHROPIC_API_KEY.",
    });
    expect((await registry.checkCredentials("demo")).result).toBe("ok");
    await expect(registry.checkCredentials("who")).rejects.toThrow(/no model provider "who"/);
  });
});
