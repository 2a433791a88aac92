import { Code, ConnectError } from "@connectrpc/connect";

/** The one request of a call whose answers are a stream. */
export async function onlyOne<T>(messages: AsyncIterable<T>): Promise<T> {
  for await (const message of messages) return message;
  throw new ConnectError("there is no request to send", Code.Internal);
}
