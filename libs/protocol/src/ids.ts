/** Every byte as two digits: an id is made for every event, and a look-up costs a fifth of a conversion. */
const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const DASH_BEFORE: ReadonlySet<number> = new Set([4, 6, 8, 10]);

/** The 16 bytes of a UUID as text, with version and variant bits set. */
function format(bytes: Uint8Array, version: number): string {
  bytes[6] = ((bytes[6] as number) & 0x0f) | (version << 4);
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  let text = "";
  for (let index = 0; index < 16; index++) text += (DASH_BEFORE.has(index) ? "-" : "") + (HEX[bytes[index] as number] as string);
  return text;
}

/** UUID version 7 (RFC 9562): 48 bits of milliseconds, then the given random bytes (at least 10). */
export function uuidV7(nowMs: number, random: Uint8Array): string {
  const bytes = new Uint8Array(16);
  for (let index = 0; index < 6; index++) bytes[index] = Math.floor(nowMs / 2 ** (8 * (5 - index))) % 256;
  bytes.set(random.subarray(0, 10), 6);
  return format(bytes, 7);
}

/** UUID version 8 (RFC 9562) from the first 16 bytes of a digest. */
export function uuidV8(digest: Uint8Array): string {
  return format(digest.slice(0, 16), 8);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a text is a UUID in lower case. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
