/** One line of a stack trace. */
export interface Frame {
  function: string;
  file: string;
  line: number;
  column: number | null;
  style: "javascript" | "browser" | "python" | "java";
}

const FRAMES_MAX = 50;
const LINE_LENGTH_MAX = 1000;

/** `at submitLogin (webpack://app/src/auth/login-form.ts:42:11)`, as Node and Chrome write it; the function may be missing. */
const JAVASCRIPT = /^\s*at (?:async )?(?:new )?(?:(\S+(?: \[as \S+\])?) \()?([^\s()]+?):(\d+):(\d+)\)?$/;

/** `submitLogin@https://app.example.com/src/auth/login-form.ts:42:11`, as Firefox and Safari write it. */
const BROWSER = /^\s*([^\s@]*)@(\S+?):(\d+):(\d+)$/;

/** `File "app/auth/session.py", line 42, in restore`. */
const PYTHON = /^\s*File "([^"]+)", line (\d+)(?:, in (\S+))?$/;

/** `at com.example.auth.SessionStore.restore(SessionStore.java:42)`. */
const JAVA = /^\s*at ([\w.$<>]+)\((\w+\.(?:java|kt|scala)):(\d+)\)$/;

/** The stack frames in a text, in its order; at most 50. Lines in quotes and code blocks count as well. */
export function readFrames(lines: string[]): Frame[] {
  const frames: Frame[] = [];
  for (const line of lines) {
    if (frames.length === FRAMES_MAX) break;
    if (line.length > LINE_LENGTH_MAX) continue;
    const frame = readFrame(line.replace(/^[>\s]*/, "").trimEnd());
    if (frame !== undefined) frames.push(frame);
  }
  return frames;
}

function readFrame(line: string): Frame | undefined {
  const java = JAVA.exec(line);
  if (java !== null) return frame("java", java[1], java[2], java[3], undefined);
  const python = PYTHON.exec(line);
  if (python !== null) return frame("python", python[3], python[1], python[2], undefined);
  const javascript = JAVASCRIPT.exec(line);
  if (javascript !== null) return frame("javascript", javascript[1], javascript[2], javascript[3], javascript[4]);
  const browser = BROWSER.exec(line);
  return browser === null ? undefined : frame("browser", browser[1], browser[2], browser[3], browser[4]);
}

function frame(style: Frame["style"], name: string | undefined, file: string | undefined, line: string | undefined, column: string | undefined): Frame {
  return { function: name || "<anonymous>", file: pathOf(file ?? ""), line: Number(line), column: column === undefined ? null : Number(column), style };
}

/** The path within the application: without scheme, host and query. */
function pathOf(file: string): string {
  const path = file.replace(/^(?:webpack(?:-internal)?|https?):\/\/[^/]*\/|^file:\/{2,3}/, "");
  return path.replace(/^\.\//, "").replace(/[?#].*$/, "");
}
