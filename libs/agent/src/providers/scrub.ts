const REDACTED = "[redacted]";

/** Shorter values are more likely words of the message than secrets. */
const SECRET_LENGTH_MIN = 6;

/** What secrets look like where we don't know them: credentials in headers and URLs, keys by their usual beginning. */
const LOOKS_SECRET: readonly [RegExp, string][] = [
  [/\b(Bearer|Basic)\s+[^\s"',;]+/gi, `$1 ${REDACTED}`],
  [/\b(authorization|x-api-key|x-goog-api-key|api-key)(["']?\s*[:=]\s*["']?)(?!\s*(?:Bearer|Basic)\b)[^\s"',;]+/gi, `$1$2${REDACTED}`],
  [/([?&](?:key|api_key|access_token)=)[^\s&"']+/gi, `$1${REDACTED}`],
  [/\bsk-[A-Za-z0-9_*-]{6,}/g, REDACTED],
  [/\bAIza[A-Za-z0-9_-]{30,}/g, REDACTED],
  [/(\/\/)[^\s/@]+@/g, `$1${REDACTED}@`],
];

/** A secret within base64. How its characters fall depends on how many bytes stand before it, so there are three forms, each without the characters that mix in others. */
function base64Forms(secret: string): string[] {
  const forms = [0, 1, 2].map((before) => {
    const bytes = Buffer.from("\0".repeat(before) + secret, "utf8");
    const encoded = bytes.toString("base64").replaceAll("=", "");
    return encoded.slice(before === 0 ? 0 : before + 1, encoded.length - (bytes.length % 3 === 0 ? 0 : 1));
  });
  return [Buffer.from(secret, "utf8").toString("base64"), ...forms].flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")]);
}

/** The ways in which a text may hold a secret. */
function formsOf(secret: string): string[] {
  const encoded = encodeURIComponent(secret);
  const urlEncoded = [encoded, encoded.replaceAll("%20", "+"), encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())];
  const json = JSON.stringify(secret).slice(1, -1);
  const hex = Buffer.from(secret, "utf8").toString("hex");
  return [secret, ...urlEncoded, json, hex, hex.toUpperCase(), ...base64Forms(secret)];
}

/** A function that removes the given secrets, and what looks like one, from a text that people will read: as they are, URL-encoded, in base64 and in hexadecimal. */
export function createScrubber(secrets: readonly string[]): (text: string) => string {
  const forms = secrets.filter((secret) => secret.length >= SECRET_LENGTH_MIN).flatMap(formsOf);
  const known = [...new Set(forms)].filter((form) => form.length >= SECRET_LENGTH_MIN).sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, REDACTED);
    for (const [pattern, replacement] of LOOKS_SECRET) clean = clean.replaceAll(pattern, replacement);
    return clean;
  };
}
