/** Why a file of a project does not belong into a bundle; undefined where it does. `name` is the last part of its path. */
export function leftOut(name: string, isDirectory: boolean): string | undefined {
  const lower = name.toLowerCase();
  if (/^\.env(?:\..*|rc)?$/.test(lower) || lower.endsWith(".env")) return "may hold secrets";
  if (isDirectory) return DIRECTORIES.has(lower) ? DIRECTORIES_WHY : lower.startsWith(".") ? "hidden" : undefined;
  if (KEY_LIKE.some((pattern) => pattern.test(lower))) return "looks like a key or a credential";
  if (lower.startsWith(".")) return "hidden";
  if (/\.(?:pyc|pyo|db|db-journal|db-wal|db-shm|sqlite3?)$/.test(lower)) return "is made when the project runs";
  return undefined;
}

const DIRECTORIES_WHY = "is made when the project runs or is built";
const DIRECTORIES: ReadonlySet<string> = new Set(["node_modules", "__pycache__", ".venv", "venv", ".git", ".forge", ".runs", ".pytest_cache", ".mypy_cache"]);

const KEY_LIKE: readonly RegExp[] = [
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|p8|ovpn)$/,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:\.pub)?$/,
  /^\.?(?:netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)$/,
  /^(?:credentials?|secrets?|tokens?|service[-_]account.*)(?:\.(?:json|ya?ml|toml|ini|txt|cfg))?$/,
  /(?:^|[._-])(?:secret|credential|token|apikey|api[-_]key|private[-_]key)s?\.(?:json|ya?ml|toml|ini|txt|cfg)$/,
];
