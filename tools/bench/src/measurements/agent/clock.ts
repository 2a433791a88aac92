/** Milliseconds of the machine's monotonic clock, which all its processes share: what one wrote down can be compared with what another did. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
