/** Tokens as Google counts them. */
export interface GoogleUsage {
  readonly promptTokenCount: number;
  readonly candidatesTokenCount: number;
  readonly totalTokenCount: number;
  readonly cachedContentTokenCount?: number;
  readonly thoughtsTokenCount?: number;
}

/** One server-sent event from JSON text, so that the text itself can be chosen. */
export function googleEvent(json: string, newline = "\r\n"): string {
  return `data: ${json}${newline}${newline}`;
}

/** An event with parts of the answer, given as JSON text each. */
export function googleParts(parts: readonly string[], finishReason?: string, usage?: GoogleUsage): string {
  const finish = finishReason === undefined ? "" : `,"finishReason":${JSON.stringify(finishReason)}`;
  const counted = usage === undefined ? "" : `,"usageMetadata":${JSON.stringify(usage)}`;
  const candidate = `{"content":{"role":"model","parts":[${parts.join(",")}]}${finish},"index":0}`;
  return googleEvent(`{"candidates":[${candidate}]${counted},"modelVersion":"gemini-test-2026","responseId":"resp_1"}`);
}

export const GOOGLE_USAGE: GoogleUsage = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

/** A whole answer of text. */
export function googleText(text: string): string {
  return googleParts([JSON.stringify({ text })], "STOP", GOOGLE_USAGE);
}

/** The body of an error. */
export function googleError(code: number, status: string, message: string, details: readonly object[] = []): object {
  return { error: { code, status, message, details } };
}
