import { expect, test } from "vitest";
import { hasSeccompFilter, seccompFilter } from "./seccomp-filter.ts";

/** What the kernel does with the program, for one system call. */
function verdict(program: Buffer, machine: number, number: number, ...parameters: number[]): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(machine, 4);
  for (const [index, value] of parameters.entries()) data.writeUInt32LE(value, 16 + index * 8);
  let loaded = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const [code, ifTrue, ifFalse, value] = [program.readUInt16LE(at * 8), program[at * 8 + 2] ?? 0, program[at * 8 + 3] ?? 0, program.readUInt32LE(at * 8 + 4)];
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else if (code === 0x06) return value;
    else {
      const holds = code === 0x15 ? loaded === value : code === 0x35 ? loaded >= value : (loaded & value) !== 0;
      at += holds ? ifTrue : ifFalse;
    }
  }
  throw new Error("the program has no end");
}

const ALLOW = 0x7fff0000;
const [EPERM, ENOSYS, KILL] = [0x00050001, 0x00050026, 0x80000000];

test.each([
  { machine: "x64", audit: 0xc000003e, read: 0, ioctl: 16, ptrace: 101, keyctl: 250, bpf: 321, clone: 56, unshare: 272, socket: 41 },
  { machine: "arm64", audit: 0xc00000b7, read: 63, ioctl: 29, ptrace: 117, keyctl: 219, bpf: 280, clone: 220, unshare: 97, socket: 198 },
])("on $machine refuses what it names and nothing else", ({ machine, audit, read, ioctl, ptrace, keyctl, bpf, clone, unshare, socket }) => {
  const program = seccompFilter(machine);
  const call = (number: number, ...parameters: number[]): number => verdict(program, audit, number, ...parameters);
  for (const number of [ptrace, keyctl, bpf]) expect(call(number)).toBe(EPERM);
  for (const number of [425, 426, 427, 435]) expect(call(number)).toBe(ENOSYS);
  expect(call(ioctl, 0, 0x5412)).toBe(EPERM);
  expect(call(ioctl, 0, 0x541c)).toBe(EPERM);
  expect(call(ioctl, 0, 0x5401)).toBe(ALLOW);
  expect(call(clone, 0x10000011)).toBe(EPERM);
  expect(call(clone, 0x11)).toBe(ALLOW);
  expect(call(unshare, 0x10000000)).toBe(EPERM);
  expect(call(socket, 40)).toBe(EPERM);
  expect(call(socket, 2)).toBe(ALLOW);
  expect(call(read)).toBe(ALLOW);
  // A program of another machine has other numbers for the same calls.
  expect(verdict(program, 0x40000003, read)).toBe(KILL);
});

test("on x64 the numbers of x32 lead around nothing", () => {
  expect(verdict(seccompFilter("x64"), 0xc000003e, 0x40000000 + 101)).toBe(ENOSYS);
});

test("says for which machines there is one", () => {
  expect(["x64", "arm64", "riscv64"].map(hasSeccompFilter)).toEqual([true, true, false]);
  expect(() => seccompFilter("riscv64")).toThrow("riscv64");
});
