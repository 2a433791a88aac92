import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A real directory with files, gone when it is disposed of. */
export class Tree implements Disposable {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), "forge-context-")));

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    this.write(files);
  }

  write(files: Readonly<Record<string, string | Uint8Array>>): void {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(this.at(path)), { recursive: true });
      writeFileSync(this.at(path), content);
    }
  }

  at(path: string): string {
    return join(this.path, path);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
