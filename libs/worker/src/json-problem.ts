/** Deeper values are refused: whoever reads them recurses. */
const DEPTH_MAX = 200;

/**
 * Why a value can't be a function's result, naming the path; undefined where it is an object that JSON holds exactly. JSON.stringify alone would drop or
 * change what it can't hold, and nobody would notice before the next step.
 */
export function jsonProblem(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return `the result must be an object, not ${describe(value)}`;
  return problemAt("result", value, []);
}

/** Why a value of any type can't be kept as JSON, naming the path; undefined where JSON holds it exactly. */
export function jsonValueProblem(value: unknown): string | undefined {
  return problemAt("result", value, []);
}

function problemAt(path: string, value: unknown, ancestors: object[]): string | undefined {
  switch (typeof value) {
    case "boolean":
      return undefined;
    case "string":
      return value.isWellFormed() ? undefined : `${path} holds half of a character (a lone surrogate), for example because a text was cut inside of an emoji`;
    case "number":
      return Number.isFinite(value) ? undefined : `${path} is ${value}, which JSON does not have`;
    case "object":
      return value === null ? undefined : problemInObject(path, value, ancestors);
    default:
      return `${path} is ${describe(value)}, which JSON does not have`;
  }
}

function problemInObject(path: string, value: object, ancestors: object[]): string | undefined {
  if (ancestors.includes(value)) return `${path} is circular: it contains itself`;
  if (ancestors.length === DEPTH_MAX) return `${path} is nested more than ${DEPTH_MAX} levels deep`;
  ancestors.push(value);
  const problem = Array.isArray(value) ? problemInArray(path, value, ancestors) : problemInRecord(path, value, ancestors);
  ancestors.pop();
  return problem;
}

function problemInArray(path: string, array: readonly unknown[], ancestors: object[]): string | undefined {
  for (let index = 0; index < array.length; index++) {
    const problem = problemAt(`${path}[${index}]`, array[index], ancestors);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemInRecord(path: string, record: object, ancestors: object[]): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(record);
  if (prototype !== Object.prototype && prototype !== null) return `${path} is ${describe(record)}; return plain objects and arrays`;
  for (const [key, item] of Object.entries(record)) {
    if (!key.isWellFormed()) return `${path} has a key that holds half of a character (a lone surrogate)`;
    const problem = problemAt(`${path}.${key}`, item, ancestors);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value !== "object") return `a ${typeof value}`;
  const name: unknown = value.constructor?.name;
  return typeof name === "string" && name !== "" && name !== "Object" ? `an instance of ${name}` : "an object";
}
