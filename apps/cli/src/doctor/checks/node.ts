import { type Found, ok, problem, warning } from "../finding.ts";

/** The version that everything is tested with; the repository brings it along. */
const NODE_MAJOR = 24;

/** Whether Node can run this. */
export function checkNode(version: string, execPath: string): Found {
  const major = Number(/^v(\d+)\./.exec(version)?.[1]);
  if (major < NODE_MAJOR)
    return problem(
      `this is Node ${version}, and Forge needs ${NODE_MAJOR}`,
      `run it with npx, which takes the Node of this repository, or install Node ${NODE_MAJOR}`,
    );
  if (major > NODE_MAJOR)
    return warning(`this is Node ${version}, and Forge is tested with ${NODE_MAJOR}`, `run it with npx, which takes the Node of this repository`);
  return ok(`${version}${/[\\/]node_modules[\\/]/.test(execPath) ? ", the repository's own" : ""}`);
}
