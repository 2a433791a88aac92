import type { Page } from "../page.ts";

const VISIBLE_MS = 4000;

/** Shows a line of text for a moment. */
export function showToast(page: Page, text: string): void {
  setTimeout(page.show(text), VISIBLE_MS);
}
