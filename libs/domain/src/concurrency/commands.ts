import { create } from "@bufbuild/protobuf";
import { StreamKind, StreamRefSchema } from "@forge/protocol/common";
import { GrantConcurrencySchema, type OutgoingCommand, OutgoingCommandSchema } from "@forge/protocol/engine";
import type { Event } from "@forge/protocol/event";
import type { ConcurrencyState } from "./state.ts";

/** Tells a run that it has the key. */
export function concurrencyCommands({ key }: ConcurrencyState, event: Event): readonly OutgoingCommand[] {
  if (event.payload.case !== "concurrencyGranted") return [];
  const { runId } = event.payload.value;
  return [
    create(OutgoingCommandSchema, {
      source: create(StreamRefSchema, { kind: StreamKind.CONCURRENCY, id: event.stream?.id ?? "" }),
      target: create(StreamRefSchema, { kind: StreamKind.RUN, id: runId }),
      commandId: `grant:${runId}:${event.seq}`,
      command: { case: "grantConcurrency", value: create(GrantConcurrencySchema, { key }) },
    }),
  ];
}

/** The run that a grant was for, by the command's id. */
export function grantedRun(commandId: string): string {
  return commandId.split(":")[1] ?? "";
}
