// Changes the same files again and again, as one transaction each time, until it is killed. Arguments: the workspace, the state directory.
import { readFileState } from "../changes/file-state.ts";
import { WorkspaceChanges } from "../changes/workspace-changes.ts";
import { WorkspaceGuard } from "../workspace/workspace-guard.ts";

const [workspace = "", stateDirectory = ""] = process.argv.slice(2);
const guard = new WorkspaceGuard(workspace);
const changes = new WorkspaceChanges(guard, { stateDirectory });
const call = {
  signal: new AbortController().signal,
  previewed: undefined,
  putArtifact: async () => ({ $typeName: "forge.common.v1.ArtifactRef" as const, sha256: "", size: 0n, mediaType: "", preview: "" }),
  changed: () => {},
};

for (let round = 0; ; round++) {
  await changes.carryOut(async () => {
    const bytes = Buffer.from(String(round % 10).repeat(200_000));
    const files = await Promise.all(["a.txt", "sub/b.txt", "c.txt"].map((path) => readFileState(guard, path, 1_000_000)));
    const plan = files.map((before) => ({ before, after: { bytes, mode: undefined } }));
    // Every other time the last one is deleted, or made again.
    return round % 2 === 0 ? plan : plan.map((file) => (file.before.path === "c.txt" ? { ...file, after: undefined } : file));
  }, call);
  if (round === 3) process.stdout.write("under way\n");
}
