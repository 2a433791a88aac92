import { lookup as resolve } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { ForgeError } from "@forge/protocol";
import { ErrorCode } from "@forge/protocol/common";

/** Not the public internet: this machine, its networks, the services of clouds (169.254.169.254), and addresses that stand for others. */
const NOT_PUBLIC = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const)
  NOT_PUBLIC.addSubnet(network, prefix, "ipv6");

/** Whether an IP address is one of the public internet's. An IPv4 address that is written as IPv6 counts as what it is. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  const bare = address.replace(/%.*$/, "");
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare) ?? [];
  if (mapped !== undefined) return isPublicAddress(mapped);
  // Also catches the mapped ones in hexadecimal, as all of ::ffff:0:0/96 that the line above didn't take is refused.
  if (family === 6 && MAPPED.check(bare, "ipv6")) return false;
  return !NOT_PUBLIC.check(bare, family === 4 ? "ipv4" : "ipv6");
}

const MAPPED = new BlockList();
MAPPED.addSubnet("::ffff:0:0", 96, "ipv6");

/** An address that must not be spoken to. `host` is the name that led there. */
export function addressRefused(host: string, address: string): ForgeError {
  return new ForgeError(ErrorCode.SANDBOX_VIOLATION, `${host} is at ${address}, which is no address of the public internet; it has to be allowed by name`, {
    reason: "ADDRESS_REFUSED",
    origin: "tool",
    metadata: { host },
  });
}

/**
 * A `lookup` for sockets that fails where any address of a name is not public. What it answers is what the socket connects to, so that a name that changes its
 * address between a check and the connection changes nothing. Sockets don't ask for a host that is an address; see requirePublicHost.
 */
export const publicLookup: LookupFunction = (host, options, callback) => {
  resolve(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) {
      callback(error, "", 0);
      return;
    }
    const refused = addresses.find(({ address }) => !isPublicAddress(address));
    if (refused !== undefined) callback(addressRefused(host, refused.address) as Error, "", 0);
    else if (options.all === true) callback(null, addresses);
    else callback(null, addresses[0]?.address ?? "", addresses[0]?.family);
  });
};

/** Throws for a host that is an address and not public. IPv6 may stand in brackets. */
export function requirePublicHost(host: string): void {
  const bare = host.replace(/^\[(.*)\]$/, "$1");
  if (isIP(bare) !== 0 && !isPublicAddress(bare)) throw addressRefused(host, bare);
}
