import { z } from "zod";

const hash = z.string().regex(/^[0-9a-f]{64}$/);

/** `manifest.json` of an exported session. */
export const ManifestSchema = z.strictObject({
  format: z.literal("forge-session/1"),
  session_id: z.string().max(64),
  events: z.number().int().nonnegative(),
  /** The chain's last hash. */
  head: hash,
  /** SHA-256 of review.json and review.md. */
  review_json: hash,
  review_md: hash,
  artifacts: z.array(z.strictObject({ sha256: hash, size: z.number().int().nonnegative() })).max(100_000),
  /** Artifacts that the events name and the server no longer has. */
  missing_artifacts: z.array(hash).max(100_000),
});

export type Manifest = z.infer<typeof ManifestSchema>;
