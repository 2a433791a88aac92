export { findPython, type PythonMissing } from "./find-python.ts";
