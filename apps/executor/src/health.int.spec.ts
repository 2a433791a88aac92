import { expect, it } from "vitest";
import { serveHealth } from "./health.ts";

it("is healthy until it drains, and has nothing else to tell", async () => {
  const health = await serveHealth(0);
  const ask = async (path: string): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${health.port}${path}`);
    return [response.status, await response.text()];
  };
  expect(await ask("/healthz")).toEqual([200, "ok\n"]);
  expect(await ask("/")).toEqual([404, ""]);
  await expect(serveHealth(health.port)).rejects.toMatchObject({ code: "EADDRINUSE" });
  health.drain();
  expect(await ask("/healthz")).toEqual([503, "draining\n"]);
  await health.close();
  await expect(ask("/healthz")).rejects.toThrow("fetch failed");
});
