import { findPython } from "@forge/python";

/** The path of a Python interpreter that has the package forge-client of this checkout. Errors: a machine without Python, and what to install. */
export async function pythonWithForge(): Promise<string> {
  const python = await findPython();
  if (typeof python !== "string") throw new Error(python.missing);
  return python;
}
