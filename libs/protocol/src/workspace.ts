export * from "./gen/forge/workspace/v1/workspace_pb.ts";
export { checkManifest, FILE_BYTES_MAX, MANIFEST_ENTRIES_MAX, MODE_EXECUTABLE, MODE_PLAIN, PATH_BYTES_MAX } from "./manifest/check-manifest.ts";
export { compareUtf8 } from "./manifest/compare-utf8.ts";
