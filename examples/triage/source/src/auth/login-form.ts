import type { Page } from "../page.ts";
import { showToast } from "../ui/toast.ts";
import { type Credentials, createSession, type Session } from "./session-store.ts";

/** What the form's fields hold. */
export interface LoginForm {
  email: string;
  password: string;
  remember: boolean;
}

/** Sends the form and opens the session; says so where email or password is wrong. */
export async function submitLogin(page: Page, form: LoginForm): Promise<Session | undefined> {
  const credentials: Credentials = { email: form.email.trim(), password: form.password };
  const answer = await fetch("/api/login", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(credentials) });
  if (answer.status === 401) {
    showToast(page, "Email or password is wrong.");
    return undefined;
  }
  const session = createSession((await answer.json()) as Session, form.remember);
  redirectAfterLogin(page, session);
  return session;
}

/** Goes where the person wanted to go before the login. */
export function redirectAfterLogin(page: Page, session: Session): void {
  page.go(page.url.searchParams.get("next") ?? session.user.home);
}
