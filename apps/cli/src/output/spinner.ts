const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;

/** Between two frames, in milliseconds. */
export const SPINNER_MS = 80;

/** The spinner at a time. */
export function spinner(nowMs: number): string {
  return FRAMES[Math.floor(nowMs / SPINNER_MS) % FRAMES.length] as string;
}
