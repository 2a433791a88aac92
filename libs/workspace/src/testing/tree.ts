import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What stands in a directory, by path; parents are made. */
export type Tree = Readonly<Record<string, { readonly file: Uint8Array; readonly executable?: boolean } | { readonly link: string } | "directory">>;

/** A directory that ends with its test. */
export async function temporaryDirectory(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "forge-workspace-"));
  return { path, [Symbol.asyncDispose]: async () => await rm(path, { recursive: true, force: true }) };
}

export async function makeTree(directory: string, tree: Tree): Promise<void> {
  for (const [name, what] of Object.entries(tree)) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    if (what === "directory") await mkdir(path, { recursive: true });
    else if ("link" in what) await symlink(what.link, path);
    else {
      await writeFile(path, what.file);
      if (what.executable === true) await chmod(path, 0o755);
    }
  }
}

/** Everything in a directory, directories included, read with other code than what is tested. */
export async function readTree(directory: string, prefix = ""): Promise<Record<string, string>> {
  const tree: Record<string, string> = {};
  for (const name of await readdir(join(directory, prefix))) {
    const path = prefix === "" ? name : `${prefix}/${name}`;
    const stat = await lstat(join(directory, path));
    if (stat.isSymbolicLink()) tree[path] = `-> ${await readlink(join(directory, path))}`;
    else if (stat.isDirectory()) Object.assign(tree, { [path]: "directory" }, await readTree(directory, path));
    else tree[path] = `${(stat.mode & 0o100) === 0 ? "file" : "executable"} ${(await readFile(join(directory, path))).toString("hex")}`;
  }
  return tree;
}

export const text = (content: string, executable = false) => ({ file: Buffer.from(content), executable });
