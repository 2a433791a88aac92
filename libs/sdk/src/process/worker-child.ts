// The entry of the process that somebody's file runs in: what it loads is compiled once for all of them.
import { enableCompileCache } from "node:module";

const [, cacheDirectory] = process.argv.slice(2);
if (cacheDirectory !== undefined) enableCompileCache(cacheDirectory);

// Before the file is, so that the package does not count among the file's own sources.
await import("../index.ts");
await import("./child-main.ts");
