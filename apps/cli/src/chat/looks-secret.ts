const NAMED = /(?:api[_-]?key|token|secret|passw(?:or)?d|credential)["']?\s*(?:[:=]|\bis\b)\s*\S/i;
const PREFIXED = /\b(?:sk-|sk_|rk_|pk_live_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|hf_|npm_|pypi-|eyJ)[\w-]{12,}/;
const BLOCK = /-----BEGIN [A-Z ]*PRIVATE KEY/;
const URL_PASSWORD = /[a-z][a-z0-9+.-]*:\/\/[^\s/?#@:]*:[^\s/?#@]+@/i;
const LONG_WORD = /[A-Za-z0-9+/_-]{32,}={0,2}/g;

/** Whether a line may have a secret in it: rather one line too many than one too few. */
export function looksSecret(line: string): boolean {
  if (NAMED.test(line) || PREFIXED.test(line) || BLOCK.test(line) || URL_PASSWORD.test(line)) return true;
  // Long words of letters of both cases and digits are keys; paths and hashes of commits are not.
  return (line.match(LONG_WORD) ?? []).some((word) => !word.includes("/") && /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word));
}
