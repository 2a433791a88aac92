import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Api, ForgeError } from "@forge/protocol";
import { ErrorCode, StreamKind } from "@forge/protocol/common";
import { type EventService, GetCommandResultResponseSchema } from "@forge/protocol/event";
import type { StreamKindName } from "../stream/aggregate.ts";
import { deriveId } from "../stream/identity.ts";
import { archived } from "../stream/refusals.ts";
import { type SubscriptionPorts, subscribe } from "../subscribe/subscription.ts";
import { type WatchPorts, watch } from "../subscribe/watch.ts";
import { streamRef } from "../tasks/task-id.ts";
import { checkLabels, checkStream } from "./check.ts";

const STREAMS_MAX = 1000;
const FILTER_MAX = 64;
const KIND = /^[a-z_]{1,64}\.[a-z_]{1,64}$/;

export function createEventService(ports: SubscriptionPorts & WatchPorts): Api<typeof EventService> {
  return {
    async *watchStreams({ kind, labels }, { namespace, signal }) {
      if (kind !== StreamKind.UNSPECIFIED && kind !== StreamKind.SESSION && kind !== StreamKind.RUN)
        throw ForgeError.validation("kind", "kind must be SESSION or RUN, or left out for every kind");
      checkLabels(labels);
      yield* watch({ namespace, labels, signal, ...(kind === StreamKind.UNSPECIFIED ? {} : { kind: kind === StreamKind.SESSION ? "session" : "run" }) }, ports);
    },
    async *subscribeEvents(request, call) {
      if (request.streams.length === 0 || request.streams.length > STREAMS_MAX)
        throw ForgeError.validation("streams", `streams must name 1 to ${STREAMS_MAX} streams`);
      const excluded = request.filter?.excludeKinds ?? [];
      if (excluded.length > FILTER_MAX)
        throw ForgeError.validation("filter.exclude_kinds", `filter.exclude_kinds has ${excluded.length} entries: at most ${FILTER_MAX}`);
      for (const kind of excluded)
        if (!KIND.test(kind))
          throw ForgeError.validation("filter.exclude_kinds", `"${kind.slice(0, 80)}" is no event kind: write for example turn.output_delta`);
      const cursors = request.streams.map((cursor, index) => {
        const stream = checkStream(cursor.stream, `streams[${index}].stream`);
        return { kind: stream.kind, streamId: stream.id, afterSeq: Number(cursor.afterSeq) };
      });
      yield* subscribe(
        {
          namespace: call.namespace,
          cursors,
          followChildren: request.followChildren,
          exclude: new Set(excluded),
          follow: !request.noFollow,
          binary: call.binary === true,
          signal: call.signal,
        },
        ports,
      );
    },
    async getCommandResult(request, call) {
      const { kind, id } = streamOf(request, call.namespace);
      const [record] = await ports.store.findCommands(call.namespace, id, [request.commandId]);
      if (record === undefined) {
        // The records of an archived stream are gone, so that their absence says nothing.
        const { archive } = await ports.store.readEvents(call.namespace, id, { afterSeq: Number.MAX_SAFE_INTEGER, limit: 1, deltas: false });
        if (archive !== undefined) throw archived({ kind, streamId: id });
        throw new ForgeError(ErrorCode.NOT_FOUND, `command ${request.commandId} has no record on ${kind} ${id}: it had no effect and may be sent again`, {
          reason: "COMMAND_NOT_FOUND",
        });
      }
      return create(GetCommandResultResponseSchema, {
        stream: streamRef(kind, id),
        seq: BigInt(record.seq),
        result: record.result,
        resultType: record.resultType,
        decidedAt: timestampFromMs(record.decidedAtMs),
      });
    },
  };
}

function streamOf(request: Parameters<Api<typeof EventService>["getCommandResult"]>[0], namespace: string): { kind: StreamKindName; id: string } {
  if (!/^[\x21-\x7e]{1,300}$/.test(request.commandId)) throw ForgeError.validation("command_id", "command_id must be visible ASCII characters");
  if (request.stream !== undefined) return checkStream(request.stream, "stream");
  if (request.createKind !== StreamKind.SESSION && request.createKind !== StreamKind.RUN) {
    throw ForgeError.validation("create_kind", "name the stream, or say in create_kind what the command created: SESSION or RUN");
  }
  const kind = request.createKind === StreamKind.SESSION ? "session" : "run";
  return { kind, id: deriveId(namespace, kind, request.commandId) };
}
