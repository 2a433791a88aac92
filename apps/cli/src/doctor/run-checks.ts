import { toForgeError } from "../output/error-report.ts";
import { type Finding, type Found, problem } from "./finding.ts";

/** One thing to look at. */
export interface Check {
  readonly name: string;
  /** Absent: 5 s. */
  readonly deadlineMs?: number;
  readonly look: (signal: AbortSignal) => Promise<Found | readonly Found[]>;
}

const DEADLINE_MS = 5_000;

/** Looks at everything at once. One that fails, or says nothing until its deadline, is a problem of its own and in nobody's way. */
export async function runChecks(checks: readonly Check[]): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    checks.map(async ({ name, deadlineMs = DEADLINE_MS, look }) => {
      const found = await within(deadlineMs, look);
      return [found].flat().map((each) => ({ check: name, ...each }));
    }),
  );
  return findings.flat();
}

async function within(deadlineMs: number, look: Check["look"]): Promise<Found | readonly Found[]> {
  const stop = new AbortController();
  const late = Promise.withResolvers<Found>();
  const timer = setTimeout(() => {
    late.resolve(problem(`no answer within ${deadlineMs / 1_000} s`, "look whether the disk, the network or the machine is overloaded, and try again"));
  }, deadlineMs);
  try {
    return await Promise.race([look(stop.signal), late.promise]);
  } catch (error) {
    return problem(`could not be looked at: ${toForgeError(error).message}`, "mend that first, and try again");
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
