type Environment = Readonly<Record<string, string | undefined>>;

export interface DefaultModelOptions {
  /** The process's own, which keys and addresses are taken from. */
  readonly environment: Environment;
  /** What the project's configuration names. */
  readonly configured: string | undefined;
  /** Reads a text from the network. Rejects where nothing comes. */
  readonly read?: (url: string, headers: Readonly<Record<string, string>>) => Promise<string>;
}

/** Works without a key: a scripted tour of what an agent can do. */
const MODEL_WITHOUT_KEY = "demo/chat";
const ANSWER_MS_MAX = 3_000;
const ANSWER_LENGTH_MAX = 1_048_576;

/** Which key means which model, unless OPENAI_MODEL and the like name another. */
const BY_KEY: readonly { readonly key: string; readonly named: string; readonly provider: string; readonly model: string }[] = [
  { key: "ANTHROPIC_API_KEY", named: "ANTHROPIC_MODEL", provider: "anthropic", model: "claude-sonnet-4-5" },
  { key: "OPENAI_API_KEY", named: "OPENAI_MODEL", provider: "openai", model: "gpt-5" },
  { key: "GOOGLE_GENERATIVE_AI_API_KEY", named: "GOOGLE_MODEL", provider: "google", model: "gemini-2.5-pro" },
  { key: "GOOGLE_API_KEY", named: "GOOGLE_MODEL", provider: "google", model: "gemini-2.5-pro" },
  { key: "GEMINI_API_KEY", named: "GEMINI_MODEL", provider: "google", model: "gemini-2.5-pro" },
];

/**
 * The model of a conversation for which none was named: FORGE_MODEL, what the project says, what a server at OPENAI_BASE_URL serves first, what a key is for;
 * without any of them the demo model.
 */
export async function defaultModel({ environment, configured, read = readUrl }: DefaultModelOptions): Promise<string> {
  const said = environment.FORGE_MODEL || configured;
  if (said !== undefined && said !== "") return said;
  const base = environment.OPENAI_BASE_URL;
  if (base !== undefined && base !== "") {
    const model = environment.OPENAI_MODEL || (await firstModel(base, environment.OPENAI_API_KEY, read));
    if (model !== undefined) return `openai/${model}`;
  }
  const found = BY_KEY.find(({ key }) => (environment[key] ?? "") !== "");
  return found === undefined ? MODEL_WITHOUT_KEY : `${found.provider}/${environment[found.named] || found.model}`;
}

/** The first model in a server's list; undefined where it has no such list: what is wrong with it is told by the first call. */
async function firstModel(base: string, key: string | undefined, read: NonNullable<DefaultModelOptions["read"]>): Promise<string | undefined> {
  try {
    const list = JSON.parse(await read(`${base.replace(/\/+$/, "")}/models`, key ? { authorization: `Bearer ${key}` } : {})) as {
      readonly data?: readonly { readonly id?: unknown }[];
    };
    const id = list.data?.[0]?.id;
    return typeof id === "string" && /^[\x21-\x7e]{1,200}$/.test(id) ? id : undefined;
  } catch {
    // No list is no reason not to start: the person may name a model.
    return undefined;
  }
}

async function readUrl(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const response = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(ANSWER_MS_MAX) });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  const text = await response.text();
  if (text.length > ANSWER_LENGTH_MAX) throw new Error(`${url} answers more than ${ANSWER_LENGTH_MAX} characters`);
  return text;
}
