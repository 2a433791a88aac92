/** What differs between machines: the audit architecture, and the numbers of system calls. */
interface Machine {
  readonly audit: number;
  /** Numbers from here on are of another calling convention of the same machine; undefined where there is none. */
  readonly foreignFrom?: number;
  readonly ioctl: number;
  readonly clone: number;
  readonly clone3: number;
  readonly unshare: number;
  readonly socket: number;
  readonly ioUring: readonly number[];
  readonly refused: readonly number[];
}

/**
 * Refused: ptrace, process_vm_readv and _writev, kcmp, pidfd_getfd (other processes); keyctl, add_key, request_key (the kernel's keyrings, which no namespace
 * separates); bpf, perf_event_open, userfaultfd; everything about mounts (mount, umount2, pivot_root, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick,
 * mount_setattr) and setns; open_by_handle_at; kexec, kernel modules, swap, reboot, acct, quotactl.
 */
const MACHINES: Readonly<Record<string, Machine>> = {
  x64: {
    audit: 0xc000003e,
    foreignFrom: 0x40000000,
    ioctl: 16,
    clone: 56,
    clone3: 435,
    unshare: 272,
    socket: 41,
    ioUring: [425, 426, 427],
    refused: [
      101, 310, 311, 312, 438, 250, 248, 249, 321, 298, 323, 165, 166, 155, 428, 429, 430, 431, 432, 433, 442, 308, 304, 246, 320, 175, 313, 176, 167, 168, 169,
      163, 179,
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    ioctl: 29,
    clone: 220,
    clone3: 435,
    unshare: 97,
    socket: 198,
    ioUring: [425, 426, 427],
    refused: [
      117, 270, 271, 272, 438, 219, 217, 218, 280, 241, 282, 40, 39, 41, 428, 429, 430, 431, 432, 433, 442, 268, 265, 104, 294, 105, 273, 106, 224, 225, 142,
      89, 60,
    ],
  },
};

/** Puts characters into a terminal's input, as if they had been typed; the second does so for consoles. */
const TERMINAL_INJECTION = [0x5412, 0x541c];
const CLONE_NEWUSER = 0x10000000;
/** Kernel crypto, virtual machine sockets and bluetooth: no network namespace holds them. */
const SOCKET_FAMILIES = [38, 40, 31];

const [EPERM, ENOSYS] = [1, 38];
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const errno = (code: number): number => 0x00050000 | code;

/** Where things lie in what the kernel shows a filter; arguments have eight bytes each, and both machines are little-endian. */
const [NUMBER_AT, MACHINE_AT, ARGUMENTS_AT] = [0, 4, 16];
const [LOAD, IF_EQUAL, IF_AT_LEAST, IF_ANY_BIT, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06];

/** The machines that there is a filter for. */
export function hasSeccompFilter(machine: string): boolean {
  return Object.hasOwn(MACHINES, machine);
}

/**
 * A seccomp program, as the kernel's `struct sock_filter` array, that refuses what a command in the sandbox has no business with. io_uring and clone3 look as if
 * the kernel had none, because libraries then take the older way, which can be looked at. Throws for a machine that there is none for.
 */
export function seccompFilter(machine: string): Buffer {
  const known = MACHINES[machine];
  if (known === undefined) throw new Error(`there is no seccomp filter for ${machine}`);
  const program: Instruction[] = [
    [LOAD, 0, 0, MACHINE_AT],
    [IF_EQUAL, 1, 0, known.audit],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER_AT],
    ...(known.foreignFrom === undefined ? [] : when(IF_AT_LEAST, known.foreignFrom, ENOSYS)),
    ...known.refused.flatMap((number) => when(IF_EQUAL, number, EPERM)),
    ...[...known.ioUring, known.clone3].flatMap((number) => when(IF_EQUAL, number, ENOSYS)),
    ...byArgument(
      known.ioctl,
      1,
      TERMINAL_INJECTION.flatMap((request) => when(IF_EQUAL, request, EPERM)),
    ),
    ...byArgument(known.clone, 0, when(IF_ANY_BIT, CLONE_NEWUSER, EPERM)),
    ...byArgument(known.unshare, 0, when(IF_ANY_BIT, CLONE_NEWUSER, EPERM)),
    ...byArgument(
      known.socket,
      0,
      SOCKET_FAMILIES.flatMap((family) => when(IF_EQUAL, family, EPERM)),
    ),
    [RETURN, 0, 0, ALLOW],
  ];
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value, index * 8 + 4);
  }
  return bytes;
}

/** Code, instructions to skip if true, and if false, and the value. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

function when(test: number, value: number, code: number): Instruction[] {
  return [
    [test, 0, 1, value],
    [RETURN, 0, 0, errno(code)],
  ];
}

/** Of one system call, looks at the lower half of an argument, and ends; all others go on. */
function byArgument(number: number, argument: number, tests: readonly Instruction[]): Instruction[] {
  return [[IF_EQUAL, 0, tests.length + 2, number], [LOAD, 0, 0, ARGUMENTS_AT + argument * 8], ...tests, [RETURN, 0, 0, ALLOW]];
}
