const SECRET_NAMES =
  /^(?:\.env(?:\..+)?|\.npmrc|\.netrc|\.pypirc|\.git-credentials|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:pem|key|p12|pfx|jks|keystore|kdbx))$/i;
const EXAMPLES = /\.(?:example|sample|template|dist)$/i;

/** Whether a file of this name usually holds keys or passwords: such a one is sent to a model only when a person names the file itself. */
export function isLikelySecret(name: string): boolean {
  return SECRET_NAMES.test(name) && !EXAMPLES.test(name);
}
