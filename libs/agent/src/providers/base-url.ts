/** Why a base URL can't be used, or undefined. */
export function problemWithUrl(url: string, variable: string): string | undefined {
  if (!URL.canParse(url)) return `${variable} is no URL`;
  const { protocol, username, password } = new URL(url);
  if (protocol !== "http:" && protocol !== "https:") return `${variable} must begin with http:// or https://`;
  if (username !== "" || password !== "") return `${variable} must not hold a user name or password`;
  return undefined;
}

/** A base URL without a slash at its end; where it names a host only, with the path that the wire format has at its own provider. */
export function withPath(url: string, path: string): string {
  const bare = url.replace(/\/+$/, "");
  return URL.canParse(bare) && new URL(bare).pathname === "/" ? `${bare}${path}` : bare;
}

/** Whether two URLs are of one host. */
export function isSameHost(url: string, other: string): boolean {
  return URL.canParse(url) && new URL(url).host === new URL(other).host;
}

/** Where a provider is reached and how to change that, for messages. */
export function describeAddress(baseUrl: string, variable: string): string {
  const isHere = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
  return `${baseUrl}; ${isHere ? "is it running? " : ""}${variable} sets another address`;
}
