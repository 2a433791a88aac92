// Dies in the middle of a transaction of two files, or just after it was committed. Arguments: the workspace, the journal's directory, "armed" or "committed".
import { linkSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ChangeJournal, type JournalEntry } from "../changes/change-journal.ts";
import { sha256Of } from "../changes/file-state.ts";
import { temporaryName } from "../workspace/temporary-name.ts";

const [workspace = "", journal = "", end = ""] = process.argv.slice(2);
const at = (name: string): string => join(workspace, name);

function stage(name: string): JournalEntry & { readonly staged: { readonly name: string } } {
  const staged = temporaryName();
  writeFileSync(at(staged), `new ${name}`);
  return { directory: ".", name, staged: { name: staged, sha256: sha256Of(Buffer.from(`new ${name}`)) }, backup: temporaryName() };
}

const replaced = stage("a.txt");
const { backup: _, ...made } = stage("made.txt");
const deleted: JournalEntry = { directory: ".", name: "gone.txt", backup: temporaryName() };
const untouched = stage("z.txt");
const entries = [replaced, made, deleted, untouched];

const open = await new ChangeJournal(journal).begin(entries);
await open.arm();
linkSync(at("a.txt"), at(replaced.backup as string));
renameSync(at(replaced.staged.name), at("a.txt"));
linkSync(at(made.staged.name), at("made.txt"));
renameSync(at("gone.txt"), at(deleted.backup as string));
if (end === "committed") await open.commit();
process.kill(process.pid, "SIGKILL");
