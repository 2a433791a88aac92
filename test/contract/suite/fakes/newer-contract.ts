import {
  clone,
  create,
  createFileRegistry,
  type DescFile,
  type DescMessage,
  type DescService,
  type FileRegistry,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  type EnumDescriptorProto,
  EnumValueDescriptorProtoSchema,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from "@bufbuild/protobuf/wkt";
import { ErrorCodeSchema, ForgeErrorSchema } from "@forge/protocol/common";
import { EventSchema, EventService, SubscribeEventsResponseSchema } from "@forge/protocol/event";
import { GetSessionSnapshotResponseSchema, SessionSchema, SessionService, SessionStatusSchema, TurnOutcomeSchema } from "@forge/protocol/session";

/** Values of enums and a payload that no client of today knows. */
export const NEWER = { status: 77, outcome: 78, code: 79 } as const;

/** The contract as a later version may have it: fields, a case of each oneof and enum values that are not in this one. */
const registry = newerRegistry(
  [EventService.file, SessionService.file],
  (name, message) => {
    switch (name) {
      case GetSessionSnapshotResponseSchema.typeName:
      case SessionSchema.typeName:
        addField(message, "mood", 900);
        break;
      case EventSchema.typeName:
        addField(message, "weather", 900);
        addField(message, "session_renamed", 901, "payload");
        break;
      case SubscribeEventsResponseSchema.typeName:
        addField(message, "notice", 900, "kind");
        break;
    }
  },
  (name, values) => {
    if (name === SessionStatusSchema.typeName) addValue(values, "SESSION_STATUS_FROZEN", NEWER.status);
    if (name === TurnOutcomeSchema.typeName) addValue(values, "TURN_OUTCOME_INSPIRED", NEWER.outcome);
    if (name === ErrorCodeSchema.typeName) addValue(values, "ERROR_CODE_TOO_EARLY", NEWER.code);
  },
);

export const newer = {
  eventService: registry.getService(EventService.typeName) as DescService,
  sessionService: registry.getService(SessionService.typeName) as DescService,
  subscribeEventsResponse: messageOf(SubscribeEventsResponseSchema.typeName),
  getSessionSnapshotResponse: messageOf(GetSessionSnapshotResponseSchema.typeName),
  forgeError: messageOf(ForgeErrorSchema.typeName),
};

function messageOf(name: string): DescMessage {
  return registry.getMessage(name) as DescMessage;
}

function newerRegistry(
  roots: readonly DescFile[],
  change: (name: string, message: DescriptorProto) => void,
  changeEnum: (name: string, values: EnumDescriptorProto) => void,
): FileRegistry {
  const files = new Map<string, FileDescriptorProto>();
  const add = (file: DescFile): void => {
    if (files.has(file.name)) return;
    for (const dependency of file.dependencies) add(dependency);
    const proto = clone(FileDescriptorProtoSchema, file.proto);
    for (const message of proto.messageType) change(`${proto.package}.${message.name}`, message);
    for (const values of proto.enumType) changeEnum(`${proto.package}.${values.name}`, values);
    files.set(file.name, proto);
  };
  for (const root of roots) add(root);
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [...files.values()] }));
}

/** A text; within a oneof where one is named. */
function addField(message: DescriptorProto, name: string, number: number, oneof?: string): void {
  const field: MessageInitShape<typeof FieldDescriptorProtoSchema> = {
    name,
    number,
    type: FieldDescriptorProto_Type.STRING,
    label: FieldDescriptorProto_Label.OPTIONAL,
  };
  const oneofIndex = oneof === undefined ? undefined : message.oneofDecl.findIndex((each) => each.name === oneof);
  message.field.push(create(FieldDescriptorProtoSchema, { ...field, oneofIndex }));
}

function addValue(values: EnumDescriptorProto, name: string, number: number): void {
  values.value.push(create(EnumValueDescriptorProtoSchema, { name, number }));
}
