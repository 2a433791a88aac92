import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";
import type { SubscribeEventsResponse } from "@forge/protocol/event";

/** Of the protocol that this client speaks. A larger minor only adds what may be passed over. */
const MAJOR = 1;

/**
 * Lets pass what a subscription says, up to an event of another major version, whose fields may mean something else.
 * Errors: unsupported_version, with the event's seq in the metadata.
 */
export async function* spokenEvents(responses: AsyncIterable<SubscribeEventsResponse>): AsyncGenerator<SubscribeEventsResponse> {
  for await (const response of responses) {
    const event = response.kind.case === "event" ? response.kind.value : undefined;
    const version = event?.version;
    if (version !== undefined && version.major !== MAJOR) {
      const message = `event ${event?.seq} of stream ${event?.stream?.id} is of protocol version ${version.major}.${version.minor}, and this client speaks ${MAJOR}.x: use a newer client`;
      const metadata = { seq: String(event?.seq), supported: `${MAJOR}.0` };
      throw new ForgeError(ErrorCode.UNSUPPORTED_VERSION, message, { origin: "client", relatedIds: [event?.stream?.id ?? ""], metadata });
    }
    yield response;
  }
}
