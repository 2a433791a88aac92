const REDACTED = "[redacted]";

/** Shorter values are more likely words of the message than secrets. */
const SECRET_LENGTH_MIN = 6;

/** What secrets look like where we don't know them: credentials in headers and URLs, keys by their usual beginning. */
const LOOKS_SECRET: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`],
  [/\b(authorization|x-api-key|api-key)(["']?\s*[:=]\s*["']?)(?!\s*(?:Bearer|Basic)\b)[^\s"',;]+/gi, `$1$2${REDACTED}`],
  [/\bsk-[A-Za-z0-9_*-]{6,}/g, REDACTED],
  [/(\/\/)[^\s/@]+@/g, `$1${REDACTED}@`],
];

/** A function that removes the given secrets, and what looks like one, from a text that people will read. */
export function createScrubber(secrets: readonly string[]): (text: string) => string {
  const known = secrets.filter((secret) => secret.length >= SECRET_LENGTH_MIN).sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, REDACTED);
    for (const [pattern, replacement] of LOOKS_SECRET) clean = clean.replaceAll(pattern, replacement);
    return clean;
  };
}
