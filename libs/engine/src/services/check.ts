import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";
import { ForgeError, isUuid } from "@forge/protocol";
import { type CommandHeader, ErrorCode, StreamKind, type StreamRef } from "@forge/protocol/common";
import type { StreamKindName } from "../stream/aggregate.ts";

const COMMAND_ID = /^[\x21-\x7e]{1,128}$/;
const TRACE_ID_MAX = 128;
/** What a Timestamp may say by its definition, years 1 to 9999. */
const SECONDS_MIN = -62_135_596_800n;
const SECONDS_MAX = 253_402_300_799n;
export const LABELS_MAX = 32;
export const LABEL_LENGTH_MAX = 128;

/** The header of a command, checked. Errors: unsupported_version, validation. */
export function checkHeader(header: CommandHeader | undefined): CommandHeader {
  if (header === undefined) throw ForgeError.validation("header", "header is missing: every command carries one with version and command_id");
  if (header.version === undefined) throw ForgeError.validation("header.version", "header.version is missing: send {major: 1, minor: 0}");
  if (header.version.major !== 1) {
    throw new ForgeError(
      ErrorCode.UNSUPPORTED_VERSION,
      `protocol version ${header.version.major}.${header.version.minor} is not spoken here: this server speaks 1.x`,
      {
        metadata: { field: "header.version", supported: "1.0" },
      },
    );
  }
  if (!COMMAND_ID.test(header.commandId)) throw ForgeError.validation("header.command_id", "header.command_id must be 1 to 128 visible ASCII characters");
  if (header.correlationId.length > TRACE_ID_MAX)
    throw ForgeError.validation("header.correlation_id", `header.correlation_id is longer than ${TRACE_ID_MAX} characters`);
  if (header.causationId.length > TRACE_ID_MAX)
    throw ForgeError.validation("header.causation_id", `header.causation_id is longer than ${TRACE_ID_MAX} characters`);
  return header;
}

export function checkUuid(id: string, field: string): string {
  if (!isUuid(id)) throw ForgeError.validation(field, `${field} must be a UUID in lower case, as the server gave it`);
  return id;
}

export function checkStream(ref: StreamRef | undefined, field: string): { readonly kind: StreamKindName; readonly id: string } {
  if (ref === undefined) throw ForgeError.validation(field, `${field} is missing`);
  if (ref.kind !== StreamKind.SESSION && ref.kind !== StreamKind.RUN) throw ForgeError.validation(`${field}.kind`, `${field}.kind must be SESSION or RUN`);
  return { kind: ref.kind === StreamKind.SESSION ? "session" : "run", id: checkUuid(ref.id, `${field}.id`) };
}

export function checkLabels(labels: Readonly<Record<string, string>>): void {
  const entries = Object.entries(labels);
  if (entries.length > LABELS_MAX) throw ForgeError.validation("labels", `labels has ${entries.length} entries: at most ${LABELS_MAX}`);
  for (const [key, value] of entries) {
    if (key === "" || key.length > LABEL_LENGTH_MAX || value.length > LABEL_LENGTH_MAX) {
      throw ForgeError.validation(
        "labels",
        `labels: key and value of "${key.slice(0, 40)}" must have at most ${LABEL_LENGTH_MAX} characters, the key at least one`,
      );
    }
  }
}

/** A bound of a list in milliseconds since the epoch; undefined where it is not set. */
export function checkTime(time: Timestamp | undefined, field: string): number | undefined {
  if (time === undefined) return undefined;
  if (time.seconds < SECONDS_MIN || time.seconds > SECONDS_MAX) throw ForgeError.validation(field, `${field} must lie between the years 1 and 9999`);
  return timestampMs(time);
}

/** A page size within 1 to 500; 0 stands for 50. */
export function checkPageSize(pageSize: number): number {
  if (pageSize > 500) throw ForgeError.validation("page_size", `page_size ${pageSize} is too large: at most 500`);
  return pageSize === 0 ? 50 : pageSize;
}

/** NUL can't be kept in the columns that lists filter by. */
export function checkNoNul(text: string, field: string, lengthMax: number): void {
  if (text.length > lengthMax) throw ForgeError.validation(field, `${field} has ${text.length} characters: at most ${lengthMax}`);
  if (text.includes("\0")) throw ForgeError.validation(field, `${field} holds a NUL character`);
}
