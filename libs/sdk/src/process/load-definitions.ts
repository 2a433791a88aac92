import { registerHooks } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Definition, isDefinition } from "../definition.ts";
import { explainImport, noDefinition } from "./explain-import.ts";
import { type LoadedSources, sourceStamp } from "./messages.ts";

/** This package as it is loaded here: a second copy of it would have errors of its own, which are not known here. */
const SDK = new URL("../index.ts", import.meta.url).href;

/** Imports a file and finds what it defines: in its default export, or else in all that it exports. Errors: validation, WORKER_FILE, with file and line where they are known. */
export async function loadDefinitions(file: string, onSources: (sources: LoadedSources) => void): Promise<Definition[]> {
  const paths: string[] = [];
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier === "@forge/sdk") return { url: SDK, shortCircuit: true };
      try {
        return nextResolve(specifier, context);
      } catch (error) {
        // A file of tools can describe them though nothing is installed beside it.
        if (specifier === "zod") return nextResolve(specifier, { ...context, parentURL: import.meta.url });
        throw error;
      }
    },
    load(url, context, nextLoad) {
      if (url.startsWith("file:") && !url.includes("/node_modules/")) {
        const path = fileURLToPath(url);
        paths.push(path);
        // Before it is read: a change in between is then seen as a change.
        onSources([[path, sourceStamp(path)]]);
      }
      return nextLoad(url, context);
    },
  });
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>;
  } catch (error) {
    throw explainImport(file, error, paths);
  }
  const { default: whole, ...others } = exported;
  const named = (whole === undefined ? Object.values(others) : [whole]).flat();
  const definitions = [...new Set(named)].filter(isDefinition);
  if (definitions.length === 0) throw noDefinition(file);
  return definitions;
}
