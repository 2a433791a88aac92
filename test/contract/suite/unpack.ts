import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import { type Any, anyUnpack } from "@bufbuild/protobuf/wkt";
import { DriverFailure } from "./driver-failure.ts";

/** What an Any holds, which has to be of that type. Errors: DriverFailure. */
export function unpack<M extends DescMessage>(schema: M, any: Any | undefined): MessageShape<M> {
  const message = any === undefined ? undefined : anyUnpack(any, schema);
  if (message === undefined) throw new DriverFailure(`the driver sent ${any?.typeUrl ?? "nothing"} where ${schema.typeName} belongs`);
  return message;
}
