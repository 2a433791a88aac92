import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ArtifactRefSchema, ValueSchema } from "@forge/protocol/common";
import { ListChangesRequestSchema, ListChangesResponseSchema, ReadConversationRequestSchema, ReadConversationResponseSchema } from "@forge/protocol/session";
import { TaskStartSchema } from "@forge/protocol/worker";
import type { TaskContext } from "@forge/worker";
import type { Method } from "./messages.ts";

/** Does for a call in the process of a file what only the holder of its lease can do; the other end of `RemoteContext`. */
export async function answerRequest(context: TaskContext, method: Method, argument: unknown): Promise<unknown> {
  switch (method) {
    case "start":
      await context.start(fromBinary(TaskStartSchema, argument as Uint8Array).kind);
      return undefined;
    case "readConversation":
      return toBinary(ReadConversationResponseSchema, await context.readConversation(fromBinary(ReadConversationRequestSchema, argument as Uint8Array)));
    case "listChanges":
      return toBinary(ListChangesResponseSchema, await context.listChanges(fromBinary(ListChangesRequestSchema, argument as Uint8Array)));
    case "putArtifact": {
      const { content, mediaType } = argument as { readonly content: Uint8Array; readonly mediaType: string };
      return toBinary(ArtifactRefSchema, await context.putArtifact(content, mediaType));
    }
    case "getArtifact":
      return await context.getArtifact(argument as string);
    case "toValue":
      return toBinary(ValueSchema, await context.toValue(argument as string));
    case "fromValue":
      return await context.fromValue(fromBinary(ValueSchema, argument as Uint8Array));
  }
}
