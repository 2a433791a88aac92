export type { CaptureOptions } from "./capture-options.ts";
export { captureRevision } from "./capture-revision.ts";
export { type DriftEntry, type DriftOptions, type DriftReport, driftReport } from "./drift-report.ts";
export type { Progress } from "./progress.ts";
export { type RestoreOptions, restoreRevision } from "./restore-revision.ts";
