import { ForgeError } from "@forge/protocol";

/** A name that says what its value is, with a value that stands there itself. */
const NAMED = /^\s*(?:-\s*)?["']?([\w.-]*(?:key|token|secret|password))["']?\s*:\s*["']?([^\s"'#{}[\]|>][^\s"'#]*)/i;
/** A URL with a password. */
const URL_PASSWORD = /[a-z][a-z0-9+.-]*:\/\/[^\s/?#@:]*:([^\s/?#@]+)@/i;

/** Throws where a configuration has a secret in plain text: a bundle is made to be handed on. `validation`, with the reason BUNDLE_SECRET, file and line. */
export function refuseSecrets(file: string, text: string): void {
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [, name, value = ""] = NAMED.exec(line) ?? [];
    const password = URL_PASSWORD.exec(line)?.[1] ?? "";
    const isNamed = name !== undefined && value !== "" && !value.startsWith("${");
    if (!isNamed && (password === "" || password.startsWith("${"))) continue;
    const what = isNamed ? `the value of ${name}` : "a password";
    throw ForgeError.validation(
      "bundle",
      `${file}:${index + 1} has ${what} in plain text: name a variable in its place, such as \${NAME}, and set that in the environment`,
      {
        reason: "BUNDLE_SECRET",
        metadata: { file, line: String(index + 1) },
      },
    );
  }
}
