import { create } from "@bufbuild/protobuf";
import type { ForgeClient } from "@forge/client";
import { ForgeError } from "@forge/protocol";
import { checkManifest, ManifestSchema, type Revision } from "@forge/protocol/workspace";
import type { CaptureOptions } from "./capture-options.ts";
import { exclusion } from "./directory/exclusion.ts";
import { quoted } from "./directory/file-error.ts";
import { type OpenDirectory, openRoot } from "./directory/open-directory.ts";
import { type ScanOptions, scan } from "./directory/scan.ts";
import { checkedSize } from "./limits.ts";
import { Upload } from "./upload.ts";

/** How often the whole directory is looked at anew because something went away before its content was stored. */
const SCANS_MAX = 3;

/**
 * Keeps the state of a directory as a revision: all files, directories (empty ones as well) and symbolic links (as links); of `.forge/data` nothing. Each file is as it was at
 * one moment; the directory as a whole need not be, while somebody changes it. Only content that the server lacks is sent, but where it lacks most. The same state
 * again is the same revision, which keeps the label and parent that it first had.
 *
 * Errors: validation, of a file above 16 MiB, a device, socket or pipe, a link out of the directory, a name that is not UTF-8; permission_denied; conflict, FILE_CHANGING; cancelled.
 */
export async function captureRevision(client: Pick<ForgeClient, "artifact" | "workspace">, directory: string, options: CaptureOptions = {}): Promise<Revision> {
  await using root = await openRoot(directory);
  for (let attempt = 1; ; attempt++) {
    const entries = await capturable(root, options);
    try {
      return await new Upload(client, root, entries, options).finish();
    } catch (error) {
      if (!(error instanceof ForgeError) || error.reason !== "FILE_CHANGING" || attempt === SCANS_MAX) throw error;
    }
  }
}

async function capturable(root: OpenDirectory, options: CaptureOptions) {
  let [files, bytes] = [0, 0];
  const scanOptions: ScanOptions = {
    isExcluded: exclusion(options.exclude),
    isRead: checkedSize,
    onFile: (size) => {
      files++;
      bytes += Number(size);
      options.onProgress?.({ phase: "reading", files, bytes });
    },
    signal: options.signal,
  };
  const { entries, others } = await scan(root, scanOptions);
  const [other] = others;
  if (other !== undefined) {
    const more = others.length > 1 ? ` (and ${others.length - 1} more like it)` : "";
    throw ForgeError.validation("directory", `${quoted(other.path)} is a ${other.kind}, which can't be kept${more}: leave it out`, {
      reason: "NOT_A_FILE",
      origin: "client",
      metadata: { path: other.path },
    });
  }
  checkManifest(create(ManifestSchema, { entries: [...entries] }));
  return entries;
}
