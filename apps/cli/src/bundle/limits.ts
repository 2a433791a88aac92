/** A project of text files is far smaller; each bound keeps one kind of bomb out. */
export const BUNDLE_LIMITS = {
  /** Of the archive as it is, in bytes. */
  archiveBytesMax: 64 * 1024 * 1024,
  /** Of all files together, in bytes. */
  bytesMax: 256 * 1024 * 1024,
  /** Of one file, in bytes. */
  fileBytesMax: 32 * 1024 * 1024,
  /** Files and directories. */
  entriesMax: 10_000,
  /** What is unpacked to what is packed: text reaches a tenth of it. */
  ratioMax: 200,
  /** So much may be unpacked whatever the ratio: small files of blanks are no bomb. */
  ratioFreeBytes: 1024 * 1024,
  depthMax: 32,
  pathLengthMax: 1_024,
} as const;

export type BundleLimits = { readonly [K in keyof typeof BUNDLE_LIMITS]: number };
