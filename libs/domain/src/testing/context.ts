import { createHash } from "node:crypto";
import { uuidV7, uuidV8 } from "@forge/protocol";
import type { ToolSpec } from "@forge/protocol/tool";
import type { Context } from "../decider.ts";

export interface TestContextOptions {
  /** Absent: 2026-01-01T00:00:00Z. */
  readonly nowMs?: number;
  /** The stream's seq before the decision; absent: 0. */
  readonly seq?: number;
  readonly streamId?: string;
  readonly principal?: string;
  readonly commandId?: string;
  /** What live workers serve, in every queue. */
  readonly tools?: readonly ToolSpec[];
  /** Capabilities beside tools that live workers serve, in every queue. */
  readonly capabilities?: readonly string[];
  /** Texts of artifacts by hash. */
  readonly artifacts?: Readonly<Record<string, string>>;
  /** The next fresh id's number; share one object to keep ids unique over many contexts. */
  readonly ids?: { next: number };
}

/** 2026-01-01T00:00:00Z, where tests begin unless they say otherwise. */
export const TEST_START_MS = Date.UTC(2026, 0, 1);

const TEST_STREAM_ID = "00000000-0000-8000-8000-000000000001";

/** A context without chance: fresh ids count up, digests are real. */
export function testContext(options: TestContextOptions = {}): Context {
  const ids = options.ids ?? { next: 1 };
  const nowMs = options.nowMs ?? TEST_START_MS;
  const tools = options.tools ?? [];
  return {
    namespace: "default",
    streamId: options.streamId ?? TEST_STREAM_ID,
    principal: options.principal ?? "test",
    commandId: options.commandId ?? "command",
    nowMs,
    seq: options.seq ?? 0,
    newId: () => uuidV7(nowMs, numberBytes(ids.next++)),
    deriveId: (...parts) =>
      uuidV8(
        createHash("sha256")
          .update(JSON.stringify(["default", ...parts]), "utf8")
          .digest(),
      ),
    sha256: (data) => createHash("sha256").update(data).digest("hex"),
    artifact: (sha256) => options.artifacts?.[sha256],
    tools: () => tools,
    serves: (_, capability) => options.capabilities?.includes(capability) === true,
  };
}

/** Ten bytes that end in the number. */
function numberBytes(value: number): Uint8Array {
  const bytes = new Uint8Array(10);
  new DataView(bytes.buffer).setUint32(6, value);
  return bytes;
}
