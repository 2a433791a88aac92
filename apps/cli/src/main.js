#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { homedir } from "node:os";
import path from "node:path";
import { builtEntry } from "./built-entry.js";

// This file is JavaScript, since what begins before there is a cache of compiled code is compiled at every start, and TypeScript's compiler is loaded for it.
//
// Compiled code is kept for the next start, in a directory of this person's own: a shared one would let others put code there.
enableCompileCache(path.join(process.env.XDG_CACHE_HOME || path.join(homedir(), ".cache"), "forge", "compiled"));

await import(builtEntry(new URL("../../../", import.meta.url)) ?? "./forge.ts");
