/** What can be read off a bug report without understanding it. */
export interface BugReport {
  readonly title: string;
  readonly severity: "low" | "medium" | "high" | "critical";
  /** Whether it has anything that bug reports have: a stack frame, a word for something going wrong. */
  readonly isBugReport: boolean;
  /** A name worth searching for: the first stack frame's function, else a word of the title. */
  readonly identifier: string;
}

const TITLE_CHARACTERS_MAX = 160;
const IDENTIFIER_CHARACTERS_MAX = 40;

/** Words for what is wrong, by how bad it is; a few languages, as a demonstration. */
const SIGNS: Readonly<Record<BugReport["severity"], RegExp>> = {
  critical:
    /\b(data loss|los(?:es|ing|t) (?:all )?data|corrupt\w*|security|vulnerab\w*|exploit\w*|injection|leak(?:s|ed)? (?:passwords?|tokens?|secrets?|keys?)|datenverlust|sicherheitsl\S*)|データ(?:損失|消失|が消え)|脆弱性|セキュリティ|数据丢失|資料遺失|安全漏洞|потер\S* данных|уязвимост\S*|데이터 손실|보안|فقدان البيانات|ثغرة/iu,
  high: /\b(crash\w*|panic\w*|segfaults?|segmentation fault|hangs|freez\w+|deadlocks?|outage|unhandled|fatal|out of memory|can(?:no|')t (?:log ?in|sign in|start)|absturz|st[uü]rzt|plante|se cierra)\b|クラッシュ|強制終了|落ち(?:る|ます|た)|フリーズ|ログインできな|崩溃|闪退|当机|падает|вылета\S*|зависа\S*|аварийн\S*|크래시|멈춤|تعطل|انهيار/iu,
  low: /\b(typos?|spelling|misspell\w*|cosmetic|misaligned|alignment|wording|tippfehler)\b|誤字|誤植|表記ゆれ|错别字|拼写|опечатк\S*|오타/iu,
  medium:
    /\b(errors?|exceptions?|bugs?|regressions?|traceback|stack trace|fail(?:s|ed|ure|ing)|broken|incorrect\w*|(?:does not|doesn't|do not|don't|not) work\w*|steps to reproduce|fehler\w*|erreurs?|fallo|errores)\b|[a-z]Error\b|エラー|例外|不具合|動かな|動作しな|バグ|错误|異常|异常|失败|ошибк\S*|сбо[йяи]\S*|не работает|исключени\S*|오류|버그|خطأ/iu,
};

/** A function's name in the stack frames of JavaScript, Java and C#, of Python, of Rust, and in parsed ones. */
const FRAMES: readonly RegExp[] = [
  /\bat (?:async |new )?([^\s()]+)\s?\(/gu,
  /File "[^"]+", line \d+, in (\S+)/gu,
  /^\s*\d+:\s+([\w:<>]+)\s*$/gmu,
  /"(?:function|method|symbol)"\s*:\s*"([^"]+)"/gu,
];

const SOURCE_LINE = /[\w-]\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|cs|c|cc|cpp|swift):\d+/u;

/** The report alone where the prompt marks it with <report> tags, else all but the lines that tell what to write. */
function reportText(prompt: string): string {
  const marked = /<report>([\s\S]*?)<\/report>/iu.exec(prompt)?.[1];
  if (marked !== undefined) return marked.trim();
  return prompt
    .split(/\r?\n/)
    .filter((line) => !/\b(severity|triage|summar\w+|JSON)\b/i.test(line))
    .join("\n")
    .replaceAll(/\bbug reports?\b/gi, "report")
    .trim();
}

function titleOf(report: string): string {
  const named = /"title"\s*:\s*"((?:[^"\\]|\\.)*)"/u.exec(report)?.[1] ?? /^[#*\s]*title:\s*(.+)$/imu.exec(report)?.[1];
  const line = named ?? report.split(/\r?\n/).find((candidate) => /[\p{L}\p{N}]/u.test(candidate)) ?? "";
  const plain = line.replaceAll(/^[#>*\s]+|[*\s]+$/gu, "");
  const characters = Array.from(plain);
  return characters.length > TITLE_CHARACTERS_MAX ? `${characters.slice(0, TITLE_CHARACTERS_MAX).join("")}...` : plain;
}

/** The last name in `LoginForm.submit`, `auth::login` or `Object.<anonymous>`; undefined where there is none worth a search. */
function lastName(qualified: string): string | undefined {
  const name = qualified.match(/[\p{L}_][\p{L}\p{N}_]*/gu)?.at(-1);
  return name !== undefined && name.length >= 3 && name !== "anonymous" && name !== "module" ? name : undefined;
}

function frameNames(report: string): string[] {
  return FRAMES.flatMap((pattern) => [...report.matchAll(pattern)])
    .sort((a, b) => a.index - b.index)
    .map((match) => lastName(match[1] ?? ""))
    .filter((name) => name !== undefined);
}

/** A word of code in the report, else the longest of the title. */
function wordWorthSearching(report: string, title: string): string {
  const code = /`([\p{L}_][\p{L}\p{N}_]{2,})[^`]*`/u.exec(report)?.[1] ?? /\b([a-z]+[A-Z]\w+|[a-z]+_\w+)\b/u.exec(report)?.[1];
  if (code) return code;
  const words = title.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest), "") || "error";
}

/** Reads a report by its keywords; deterministic, in any script. */
export function readBugReport(prompt: string): BugReport {
  const report = reportText(prompt);
  const title = titleOf(report);
  const frames = frameNames(report);
  const severity = (["critical", "high", "low", "medium"] as const).find((level) => SIGNS[level].test(report));
  const isBugReport = severity !== undefined || frames.length > 0 || SOURCE_LINE.test(report);
  const identifier = Array.from(frames[0] ?? wordWorthSearching(report, title))
    .slice(0, IDENTIFIER_CHARACTERS_MAX)
    .join("");
  return { title, severity: isBugReport ? (severity ?? "medium") : "low", isBugReport, identifier };
}
