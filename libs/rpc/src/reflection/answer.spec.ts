import { fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { EventService } from "@forge/protocol/event";
import { SessionService } from "@forge/protocol/session";
import { describe, expect, it } from "vitest";
import { type Answer, answer } from "./answer.ts";
import { Descriptors } from "./descriptors.ts";

const descriptors = new Descriptors([SessionService, EventService]);
const SESSION_FILE = "forge/session/v1/session.proto";

/** The names of the files in an answer; what else it says instead. */
function files(given: Answer): unknown {
  if (given.case !== "fileDescriptorResponse") return given;
  return given.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes).name);
}

describe("a question about the contracts", () => {
  it("for the services is answered with their names", () => {
    expect(answer({ case: "listServices", value: "" }, descriptors, new Set())).toEqual({
      case: "listServicesResponse",
      value: { service: [{ name: "forge.event.v1.EventService" }, { name: "forge.session.v1.SessionService" }] },
    });
  });

  it.each([
    "forge.session.v1.SessionService",
    "forge.session.v1.SessionService.StartTurn",
    "forge.session.v1.Session",
    "forge.session.v1.Session.turn_count",
    "forge.session.v1.SessionStatus",
    "forge.session.v1.SESSION_STATUS_ACTIVE",
  ])("for the file of a symbol, with what it imports: %s", (value) => {
    const given = files(answer({ case: "fileContainingSymbol", value }, descriptors, new Set())) as string[];
    expect(given[0]).toBe(SESSION_FILE);
    expect(given).toEqual(expect.arrayContaining(["forge/common/v1/common.proto", "google/protobuf/timestamp.proto"]));
    expect(new Set(given).size).toBe(given.length);
  });

  it("for a nested type, a oneof and its case", () => {
    for (const value of ["forge.event.v1.SubscribeEventsResponse.kind", "forge.event.v1.SubscribeEventsResponse.caught_up"]) {
      expect(files(answer({ case: "fileContainingSymbol", value }, descriptors, new Set()))).toContain("forge/event/v1/event_service.proto");
    }
  });

  it("gets files that were sent before only when it names them", () => {
    const sent = new Set<string>();
    const first = files(answer({ case: "fileByFilename", value: SESSION_FILE }, descriptors, sent)) as string[];
    expect(first.length).toBeGreaterThan(3);
    expect(files(answer({ case: "fileByFilename", value: SESSION_FILE }, descriptors, sent))).toEqual([SESSION_FILE]);
    expect(files(answer({ case: "fileByFilename", value: "forge/common/v1/common.proto" }, descriptors, sent))).toEqual(["forge/common/v1/common.proto"]);
  });

  it.each([
    [{ case: "fileByFilename", value: "../../etc/passwd" }, Code.NotFound],
    [{ case: "fileContainingSymbol", value: "forge.session.v1.Nothing" }, Code.NotFound],
    [{ case: "fileContainingSymbol", value: "" }, Code.NotFound],
    [{ case: "allExtensionNumbersOfType", value: "forge.Nothing" }, Code.NotFound],
    [
      {
        case: "fileContainingExtension",
        value: { containingType: "forge.session.v1.Session", extensionNumber: 1, $typeName: "grpc.reflection.v1.ExtensionRequest" },
      },
      Code.NotFound,
    ],
    [{ case: undefined }, Code.InvalidArgument],
  ] as const)("about what there is not is answered with an error: %j", (asked, errorCode) => {
    expect(answer(asked, descriptors, new Set())).toMatchObject({ case: "errorResponse", value: { errorCode } });
  });

  it("about extensions is answered with none", () => {
    expect(answer({ case: "allExtensionNumbersOfType", value: "forge.session.v1.Session" }, descriptors, new Set())).toEqual({
      case: "allExtensionNumbersResponse",
      value: { baseTypeName: "forge.session.v1.Session", extensionNumber: [] },
    });
  });
});
