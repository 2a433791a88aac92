import { create } from "@bufbuild/protobuf";
import { type CheckpointKind, TurnCheckpointedSchema } from "@forge/protocol/event";
import type { SessionRecorder } from "./session-command.ts";

/** Marks where the turn stands. It joins the append that it is a mark in, and changes nothing. */
export function checkpoint(recorder: SessionRecorder, turnId: string, kind: CheckpointKind): void {
  recorder.record({ turnId, payload: { case: "turnCheckpointed", value: create(TurnCheckpointedSchema, { kind }) } });
}
