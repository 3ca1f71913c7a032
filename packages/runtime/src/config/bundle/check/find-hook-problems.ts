/** Finds the mistakes in a list of hooks that a schema cannot find: in expressions, files of commands and ids. */
import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { ErrorCode, HookPoint, JsonValue } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { showJson } from '../../../json/show-json.ts';
import { closestName, listNames, suggestName } from '../../closest-name.ts';
import { hook as hookSchema } from '../kinds/hook.ts';
import { factsAt } from '../kinds/hook-facts.ts';
import type { Path } from '../place.ts';

export interface HookProblem {
  readonly severity: 'error' | 'warning';
  readonly code: ErrorCode;
  /** The path in the list of hooks. */
  readonly path: Path;
  /** Text to follow the path. */
  readonly message: string;
  readonly suggestion?: string | undefined;
}

/** `folder`: the folder to which commands such as `./check.sh` are relative. Hooks that do not fit the schema are skipped. */
export function* findHookProblems(hooks: JsonValue | undefined, folder: string): Generator<HookProblem> {
  const ids = new Set<string>();
  for (const [index, written] of (Array.isArray(hooks) ? hooks : []).entries()) {
    const parsed = hookSchema.safeParse(written);
    if (!parsed.success) continue;
    const { id, point, action } = parsed.data;
    if (id !== undefined && ids.has(id)) yield repeatedId([index, 'id'], id);
    if (id !== undefined) ids.add(id);
    const path: Path = [index, 'action'];
    if ('command' in action) yield* checkProgram(action, folder, [...path, 'command', 0]);
    else yield* checkValues(action.toolCall.args, point, [...path, 'toolCall', 'args']);
  }
}

function repeatedId(path: Path, id: string): HookProblem {
  const message = `is the id "${id}" of an earlier hook, too, so errors and the log do not tell the two apart.`;
  return { severity: 'warning', code: 'E_REF_TWICE', path, message, suggestion: 'Give each hook an id of its own.' };
}

/** Checks that a file of the bundle can be run. A name without a slash is searched in PATH, when the hook runs. */
function* checkProgram(
  { command: [program = ''], onFailure }: { readonly command: readonly string[]; readonly onFailure?: unknown },
  folder: string,
  path: Path,
): Generator<HookProblem> {
  if (!program.includes('/') || isAbsolute(program)) return;
  const problem = whyNotRunnable(resolve(folder, program));
  if (problem === undefined) return;
  const severity = onFailure === 'continue' ? 'warning' : 'error';
  const message = `names "${program}", which ${problem}.`;
  yield { severity, code: 'E_EXT_CONFIG', path, message, suggestion: makeRunnable };
}

const makeRunnable =
  'Create the file in the folder of the bundle and run `chmod +x` on it. With `onFailure: continue`, this is a warning.';

function whyNotRunnable(file: string): string | undefined {
  try {
    if (!statSync(file).isFile()) return 'is not a regular file';
  } catch {
    return 'is not a file of the bundle';
  }
  try {
    accessSync(file, constants.X_OK);
    return undefined;
  } catch {
    return 'is not executable';
  }
}

/** Checks the expressions anywhere inside the arguments. */
function* checkValues(value: JsonValue | undefined, point: HookPoint, path: Path): Generator<HookProblem> {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const inside = [...path, key];
    if (isPlainObject(item) && Object.hasOwn(item, 'expr')) yield* checkExpression(item, point, inside);
    else yield* checkValues(item, point, inside);
  }
}

function* checkExpression(
  { expr, ...others }: Readonly<Record<string, unknown>>,
  point: HookPoint,
  path: Path,
): Generator<HookProblem> {
  const wrong = (at: Path, message: string, suggestion: string | undefined): HookProblem => ({
    severity: 'error',
    code: 'E_EXT_CONFIG',
    path: at,
    message,
    suggestion,
  });
  const [other] = Object.keys(others);
  if (other !== undefined) {
    yield wrong([...path, other], 'is a second field beside expr.', 'Write { expr: path } without any other field.');
    return;
  }
  const at = [...path, 'expr'];
  if (typeof expr !== 'string' || !isDottedPath(expr)) {
    yield wrong(at, `must be a path, not ${showJson(expr)}.`, howToWritePaths);
    return;
  }
  const fact = expr.trim().split('.')[0] ?? '';
  const known = factsAt(point);
  if (known.includes(fact)) return;
  const message = `begins with "${fact}", which is not a fact at ${point}. Its facts are ${listNames(known)}.`;
  yield wrong(at, message, suggestName(closestName(fact, known), known));
}

const howToWritePaths = 'Write names and positions with dots between them, such as `event.input` or `tools.0`.';

function isDottedPath(text: string): boolean {
  return text
    .trim()
    .split('.')
    .every((part) => /^[^\s()[\]{}+*'"`]+$/.test(part));
}
