import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { pack } from "tar-stream";
import type { BundleFile } from "./collect-files.ts";

const EPOCH = new Date(0);
/** Where a gzip header tells the system that it was made on; 255 says nothing. */
const OS_BYTE = 9;

/** A .tar.gz of files, in their order. The same files have the same bytes, whenever, wherever and by whom they are packed. */
export async function writeBundle(files: readonly BundleFile[]): Promise<Buffer> {
  const tar = pack();
  for (const { path, content, isExecutable } of files)
    tar.entry(
      { name: path, size: content.length, mode: isExecutable ? 0o755 : 0o644, mtime: EPOCH, uid: 0, gid: 0, uname: "", gname: "", type: "file" },
      content,
    );
  tar.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of tar) chunks.push(chunk as Buffer);
  const packed = await promisify(gzip)(Buffer.concat(chunks), { level: 9 });
  packed[OS_BYTE] = 255;
  return packed;
}
