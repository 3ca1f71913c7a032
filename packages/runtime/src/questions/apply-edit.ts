/**
 * Applies the arguments that a person edited to the real ones. The person saw them with secrets masked: a value that is
 * still the masked text, at its place, gets its real value back. Nothing else is merged. Pure.
 */
import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';
import { canonicalJson } from '../json/canonical-json.ts';
import { isPlainObject } from '../json/copy-json.ts';

/**
 * Returns the edited arguments. `seen`: the arguments that the person saw. **Errors** — `E_QUESTION_REPLY` if a masked text
 * was moved, because nobody can tell whether the secret or the text is meant.
 */
export function applyEdit(real: JsonObject, seen: JsonObject, edited: JsonObject): JsonObject {
  const masked = new Set<JsonValue>();
  collectMasked(real, seen, masked);
  if (masked.size === 0) return edited;
  // Safe: an edited object stays an object.
  return restore(real, seen, edited, { masked, path: [] }) as JsonObject;
}

interface Place {
  readonly masked: ReadonlySet<JsonValue>;
  readonly path: readonly string[];
}

/** Adds the masked texts, including masked names of fields. */
function collectMasked(real: JsonValue, seen: JsonValue, masked: Set<JsonValue>): void {
  if (Array.isArray(real) && Array.isArray(seen)) {
    for (const [at, item] of real.entries()) collectMasked(item, seen[at] ?? null, masked);
  } else if (isPlainObject(real) && isPlainObject(seen)) {
    const names = Object.keys(seen);
    for (const [at, [name, value]] of Object.entries(real).entries()) {
      const shown = names[at] ?? '';
      if (shown !== name) masked.add(shown);
      collectMasked(value, seen[shown] ?? null, masked);
    }
  } else if (real !== seen) masked.add(seen);
}

function restore(
  real: JsonValue | undefined,
  seen: JsonValue | undefined,
  edited: JsonValue,
  { masked, path }: Place,
): JsonValue {
  const inside = (name: string) => ({ masked, path: [...path, name] });
  if (Array.isArray(edited)) {
    const [reals = [], seens = []] = [real, seen].map((each) => (Array.isArray(each) ? each : []));
    const isInPlace = placesOf(seens, edited);
    return edited.map((item, at) =>
      restore(isInPlace(item, at) ? reals[at] : undefined, seens[at], item, inside(String(at))),
    );
  }
  if (isPlainObject(edited)) {
    const [reals, seens] = [real, seen].map((each) => (isPlainObject(each) ? each : {}));
    return Object.fromEntries(
      Object.entries(edited).map(([shown, value]) => {
        const name = nameOf(shown, reals ?? {}, seens ?? {}, inside(shown));
        return [name, restore(reals?.[name], seens?.[shown], value, inside(shown))];
      }),
    );
  }
  if (!masked.has(edited)) return edited;
  if (real !== undefined && seen === edited) return real;
  throw moved(path);
}

/**
 * Returns a function that tells whether an item of an edited list is the one that was shown at its place. All secrets look
 * the same when they are masked, so an item that moved would get the secret of another one.
 */
function placesOf(seen: readonly JsonValue[], edited: readonly JsonValue[]) {
  const texts = seen.map((item) => canonicalJson(item));
  const counts = Map.groupBy(texts, (text) => text);
  return (item: JsonValue, at: number): boolean => {
    const text = canonicalJson(item);
    const isSame = texts[at] === text;
    const others = (counts.get(text)?.length ?? 0) - (isSame ? 1 : 0);
    // In a list of the same length, an item that was nowhere else was edited at its place.
    return seen.length === edited.length ? isSame || others === 0 : isSame && others === 0;
  };
}

/** Returns the real name of a field, whose shown name may be masked. */
function nameOf(shown: string, real: JsonObject, seen: JsonObject, { masked, path }: Place): string {
  if (!masked.has(shown)) return shown;
  const names = Object.keys(real);
  const at = Object.keys(seen).indexOf(shown);
  const name = names[at];
  // Two names that are masked alike cannot be told apart.
  if (name === undefined || names.length !== Object.keys(seen).length) throw moved(path);
  return name;
}

function moved(path: readonly string[]): GoondanError {
  const message = `A person edited the arguments, and ${path.join('.')} has a masked text that was moved there.`;
  return new GoondanError('E_QUESTION_REPLY', message);
}
