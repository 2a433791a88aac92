/** A column's type on the server, and what its values are here. Any value may be null. */
interface Values {
  int4: number;
  int8: number;
  float8: number;
  bool: boolean;
  text: string;
  uuid: string;
  bytea: Uint8Array;
}
type ColumnType = keyof Values;
type Columns = Readonly<Record<string, ColumnType>>;

/** A row of a relation: its columns by name. */
export type RowOf<C extends Columns> = { readonly [Name in keyof C]: Values[C[Name]] | null };

/** Rows that go to the server as one array for each column and are unnested there. */
export interface Relation<C extends Columns> {
  readonly columns: C;
  /** `unnest($n::type[], ...) as name(column, ...)`, with parameters counted from `first`. */
  unnest(name: string, first: number): string;
  /** One binary array for each column. */
  encode(rows: readonly RowOf<C>[]): Buffer[];
}

export function relation<C extends Columns>(columns: C): Relation<C> {
  const entries = Object.entries(columns);
  return {
    columns,
    unnest: (name, first) =>
      `unnest(${entries.map(([, type], index) => `$${first + index}::${type}[]`).join(", ")}) as ${name}(${entries.map(([column]) => column).join(", ")})`,
    encode: (rows) => entries.map(([column, type]) => encodeArray(type, rows, column)),
  };
}

/** Object identifiers of the types in pg_type; fixed for all versions. */
const OIDS: Readonly<Record<ColumnType, number>> = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25, float8: 701, uuid: 2950 };
const FIXED_SIZES: Readonly<Partial<Record<ColumnType, number>>> = { bool: 1, int4: 4, int8: 8, float8: 8, uuid: 16 };

/**
 * A one-dimensional array in PostgreSQL's binary format (array_send): dimensions, null flag, element type, length, lower bound, then each element with its size.
 * Text arrays, which pg would send, cost twice the bytes for bytea and a quoting pass for every element.
 */
function encodeArray(type: ColumnType, rows: readonly Readonly<Record<string, unknown>>[], column: string): Buffer {
  const values = rows.map((row) => row[column]);
  const sizes = values.map((value) => sizeOf(type, value));
  const total = sizes.reduce((sum, size) => sum + 4 + Math.max(size, 0), values.length > 0 ? 20 : 12);
  const buffer = Buffer.allocUnsafe(total);
  buffer.writeInt32BE(values.length > 0 ? 1 : 0, 0);
  buffer.writeInt32BE(sizes.includes(-1) ? 1 : 0, 4);
  buffer.writeInt32BE(OIDS[type], 8);
  if (values.length === 0) return buffer;
  buffer.writeInt32BE(values.length, 12);
  buffer.writeInt32BE(1, 16);
  let offset = 20;
  for (const [index, value] of values.entries()) {
    const size = sizes[index] as number;
    buffer.writeInt32BE(size, offset);
    offset += 4;
    if (size < 0) continue;
    writeValue(buffer, offset, type, value);
    offset += size;
  }
  return buffer;
}

/** Bytes of a value; -1 for null. */
function sizeOf(type: ColumnType, value: unknown): number {
  if (value === null) return -1;
  if (type === "text") return Buffer.byteLength(value as string);
  if (type === "bytea") return (value as Uint8Array).length;
  return FIXED_SIZES[type] as number;
}

function writeValue(buffer: Buffer, offset: number, type: ColumnType, value: unknown): void {
  switch (type) {
    case "bool":
      buffer[offset] = value ? 1 : 0;
      return;
    case "int4":
      buffer.writeInt32BE(value as number, offset);
      return;
    case "int8":
      buffer.writeInt32BE(Math.floor((value as number) / 2 ** 32), offset);
      buffer.writeUInt32BE((value as number) >>> 0, offset + 4);
      return;
    case "float8":
      buffer.writeDoubleBE(value as number, offset);
      return;
    case "text":
      buffer.write(value as string, offset, "utf8");
      return;
    case "uuid":
      buffer.write((value as string).replaceAll("-", ""), offset, "hex");
      return;
    case "bytea":
      buffer.set(value as Uint8Array, offset);
      return;
  }
}
