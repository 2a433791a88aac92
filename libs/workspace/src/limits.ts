import { ForgeError } from "@forge/protocol";
import { FILE_BYTES_MAX } from "@forge/protocol/workspace";
import { quoted } from "./directory/file-error.ts";

/** True, or the error that names a file which is too large to be kept. */
export function checkedSize(path: string, size: bigint): true {
  if (size <= BigInt(FILE_BYTES_MAX)) return true;
  throw ForgeError.validation("directory", `${quoted(path)} has ${size} bytes: a file that is kept has at most ${FILE_BYTES_MAX}; leave it out`, {
    reason: "FILE_TOO_LARGE",
    origin: "client",
    metadata: { path },
  });
}
