import { restoreSession } from "./auth/session-store.ts";
import type { Page } from "./page.ts";
import { showToast } from "./ui/toast.ts";

/** Starts the application: with the last session, or at the login page. */
export function startApp(page: Page): void {
  const session = restoreSession(Date.now());
  if (session === undefined) page.go("/login");
  else showToast(page, `Welcome back, ${session.user.name}.`);
}
