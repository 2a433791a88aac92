const KEY = "app.session";

export interface Credentials {
  email: string;
  password: string;
}

export interface Session {
  token: string;
  expiresAt: number;
  user: { id: string; name: string; home: string };
}

/** Keeps the session in this tab, or in the browser where the person asked to be remembered. */
export function createSession(answer: Session, remember: boolean): Session {
  const storage = remember ? localStorage : sessionStorage;
  storage.setItem(KEY, JSON.stringify(answer));
  return answer;
}

/** The session that an earlier visit left, unless it has expired. */
export function restoreSession(now: number): Session | undefined {
  const text = sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY);
  const session = JSON.parse(text as string) as Session;
  return session.expiresAt > now ? session : undefined;
}
