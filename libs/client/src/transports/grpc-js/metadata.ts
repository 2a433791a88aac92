import { Metadata } from "@grpc/grpc-js";

/** What headers can be made of. */
export type HeaderFields = ConstructorParameters<typeof Headers>[0];

/** Headers as this library takes them; a `-bin` one is base64 in a header and bytes there. */
export function toMetadata(headers: HeaderFields): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of new Headers(headers)) metadata.add(name, name.endsWith("-bin") ? Buffer.from(value, "base64") : value);
  return metadata;
}

/** The same back. */
export function toHeaders(metadata: Metadata | undefined): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(metadata?.toJSON() ?? {})) {
    for (const value of values) headers.append(name, typeof value === "string" ? value : value.toString("base64"));
  }
  return headers;
}
