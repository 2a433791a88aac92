import { ForgeError } from "@forge/protocol";

/** Hosts by name: `example.org`, `*.example.org` (what is below it), either with `:port`, or `*`. */
export interface HostRules {
  readonly allow: readonly string[];
  /** Looked at first. Absent: none. */
  readonly deny?: readonly string[];
}

const PATTERN = /^(?:\*|(?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

/** Throws `validation`, naming the field, for what is no pattern of a host. */
export function requireHostPatterns(field: string, patterns: readonly string[]): void {
  const wrong = patterns.find((pattern) => !PATTERN.test(pattern.toLowerCase()));
  if (wrong !== undefined) throw ForgeError.validation(field, `${wrong} is no host: example.org, *.example.org or *, and :port where it is not 80 or 443`);
}

/** Whether rules let a host be spoken to. A pattern without a port is of the ports 80 and 443. */
export function isHostAllowed({ allow, deny = [] }: HostRules, host: string, port: number): boolean {
  const name = host.toLowerCase().replace(/\.$/, "");
  if (deny.some((pattern) => matches(pattern, name, port, true))) return false;
  return allow.some((pattern) => matches(pattern, name, port, false));
}

/** Whether an allowed pattern names the host itself, and not many: who writes an address of a private network down means it. */
export function isNamedHost({ allow }: HostRules, host: string, port: number): boolean {
  return allow.some((pattern) => !pattern.startsWith("*") && matches(pattern, host.toLowerCase().replace(/\.$/, ""), port, false));
}

function matches(pattern: string, name: string, port: number, anyPort: boolean): boolean {
  const [, wanted = "", wantedPort] = /^(.*?)(?::(\d+))?$/.exec(pattern.toLowerCase()) ?? [];
  const [host, portText] = wanted.startsWith("[") && !wanted.endsWith("]") ? [pattern.toLowerCase(), undefined] : [wanted, wantedPort];
  if (portText === undefined ? !anyPort && port !== 80 && port !== 443 : Number(portText) !== port) return false;
  if (host === "*") return true;
  return host.startsWith("*.") ? name.endsWith(host.slice(1)) : name === host;
}
