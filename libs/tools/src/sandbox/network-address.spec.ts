import { expect, test } from "vitest";
import { isPublicAddress, publicLookup, requirePublicHost } from "./network-address.ts";

test.each([
  "127.0.0.1",
  "127.9.9.9",
  "0.0.0.0",
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "224.0.0.1",
  "255.255.255.255",
  "::1",
  "::",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:169.254.169.254",
  "::127.0.0.1",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
  "fe80::1",
  "fe80::1%eth0",
  "fc00::1",
  "fd00:ec2::254",
  "ff02::1",
  "2001::1",
  "not an address",
  "",
])("%s is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(["1.1.1.1", "172.32.0.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:1.1.1.1", "192.167.0.1", "100.63.0.1"])("%s is public", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});

test("a name that leads to this machine is refused when it is looked up, in both ways that sockets ask", async () => {
  for (const all of [true, false]) {
    const error = await new Promise((resolve) => publicLookup("localhost", { all }, (failure) => resolve(failure)));
    expect(error).toMatchObject({ reason: "ADDRESS_REFUSED" });
  }
});

test("a host that is an address is refused by itself, in brackets as well", () => {
  for (const host of ["127.0.0.1", "[::1]", "[::ffff:7f00:1]"]) expect(() => requirePublicHost(host)).toThrow("no address of the public internet");
  for (const host of ["example.org", "1.1.1.1", "[2606:4700:4700::1111]"]) expect(() => requirePublicHost(host)).not.toThrow();
});
