import { isReservedName } from "../expression/names.ts";
import { isVisibleAscii } from "../text.ts";
import { InvalidField, invalidDefinition } from "./invalid-field.ts";
import { CAPABILITY_LENGTH_MAX, NAME_LENGTH_MAX } from "./limits.ts";

const ID = /^[A-Za-z0-9_-]+$/;
const KEY = /^[\p{L}_][\p{L}\p{N}_-]*$/u;

/** An id stands in paths, file names and the store. */
export function checkId(field: string, what: string, id: string): void {
  if (id !== "" && id.length <= NAME_LENGTH_MAX && ID.test(id) && !isReservedName(id)) return;
  throw invalidDefinition(field, `a ${what}'s id has 1 to ${NAME_LENGTH_MAX} letters, digits, "_" and "-"`);
}

/** A name that stands in state paths. */
export function checkKey(field: string, what: string, key: string): void {
  if (key.length <= NAME_LENGTH_MAX && KEY.test(key) && !isReservedName(key)) return;
  throw invalidDefinition(field, `the name of an ${what} has at most ${NAME_LENGTH_MAX} characters: a letter or "_", then letters, digits, "_" and "-"`);
}

/** A model is named provider/model. */
export function checkModel(field: string, model: string): void {
  if (model.length <= CAPABILITY_LENGTH_MAX && isVisibleAscii(model) && /^[^/]+\/.+$/.test(model)) return;
  throw new InvalidField(field, `a model is named provider/model in at most ${CAPABILITY_LENGTH_MAX} visible ASCII characters, for example openai/gpt-5`);
}
