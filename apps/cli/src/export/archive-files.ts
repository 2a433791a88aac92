import { pack } from "tar-stream";

/** A file of an archive, by its path in it. */
export interface ArchiveFile {
  readonly path: string;
  readonly content: Uint8Array;
}

const EPOCH = new Date(0);

/** A .tar of files, in their order: the same files have the same bytes, so that every byte of an archive is known from what it holds. */
export async function* tarOf(files: Iterable<ArchiveFile>): AsyncGenerator<Uint8Array> {
  const tar = pack();
  // The stream is read while it is filled.
  const filling = (async () => {
    for (const { path, content } of files) {
      await new Promise<void>((resolve, reject) => {
        tar.entry(
          { name: path, size: content.length, mode: 0o644, mtime: EPOCH, uid: 0, gid: 0, uname: "", gname: "", type: "file" },
          Buffer.from(content),
          (error) => (error ? reject(error) : resolve()),
        );
      });
    }
    tar.finalize();
  })();
  for await (const chunk of tar) yield chunk as Uint8Array;
  await filling;
}
