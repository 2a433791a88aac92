const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"] as const;

/** A size for people: 1 byte, 812 bytes, 1.4 MiB. */
export function formatBytes(bytes: number): string {
  if (bytes === 1) return "1 byte";
  let [value, unit] = [bytes, 0];
  // What would be shown as 1024.0 is one of the next unit.
  while (value >= (unit === 0 ? 1024 : 1023.95) && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
