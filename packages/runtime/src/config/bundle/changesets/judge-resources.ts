/** Judges the bundle's own resources, as they are written in YAML. */
import { posix } from 'node:path';
import { isPlainObject } from '../../../json/copy-json.ts';
import { findPathProblem } from '../../../workspace/changesets/find-path-problem.ts';
import type { LoadedResource, LoadedResourceOf } from '../bundle.ts';
import { parseReference, referenceOf, type ListItem } from '../references.ts';
import { isOfChangeset, type JudgedChange, newNames } from './judged-change.ts';
import type { Setting } from './list-settings.ts';

export function* judgeResources(change: JudgedChange): Generator<string> {
  const before = new Map(change.before.resources.map((loaded) => [loaded.identity, loaded]));
  const after = new Map(change.after.resources.map((loaded) => [loaded.identity, loaded]));
  for (const [identity, { document }] of before) {
    if (!after.has(identity)) yield `${document.file}: ${identity} is removed, but a changeset removes no resource.`;
  }
  for (const [identity, loaded] of after) {
    const old = before.get(identity);
    if (old === undefined) yield* judgeNew(loaded, change);
    else if (!isEqual(old.document.value, loaded.document.value)) yield* judgeChanged(old, loaded, change);
  }
}

function* judgeNew(loaded: LoadedResource, change: JudgedChange): Generator<string> {
  const at = `${loaded.document.file}: ${loaded.identity}`;
  if (loaded.kind !== 'Tool' && loaded.kind !== 'Extension') {
    return yield `${at} is new, but a changeset adds only Tools and Extensions.`;
  }
  if (loaded.resource.metadata.annotations !== undefined)
    yield `${at} has annotations, which a new resource may not have.`;
  if (hasValueFrom(loaded.document.value))
    yield `${at} takes a value from the environment (valueFrom), which is not permitted.`;
  yield* judgeFields(at, loaded.resource.spec, permittedFields[loaded.kind]);
  const entry = posix.normalize(loaded.resource.spec.entry);
  if (!isOfChangeset(entry, change)) yield notCreated(entry);
  if (loaded.kind === 'Tool') yield* judgeExports(at, loaded, change);
  else yield* judgeExtension(at, loaded, change);
}

/** Position and priority of a layer are facts of the running code. Only `innermost` is known before any code runs. */
function* judgeExtension(
  at: string,
  { name, resource }: LoadedResourceOf<'Extension'>,
  { oldStyle }: JudgedChange,
): Generator<string> {
  if (resource.spec.innermost !== true)
    yield `${at} could be outside of existing extensions. Add innermost: true to its spec.`;
  if (oldStyle.includes(name))
    yield `${at} uses @goondan/v010, whose functions may run before those of existing extensions. Write it for the present API.`;
}

/** Existing code under a new name would escape the rules for its old name. */
export function notCreated(path: string): string {
  return `${path} was not created by a changeset. Put the code of a tool or an extension into new files.`;
}

const permittedFields = {
  Tool: ['entry', 'exports', 'config', 'configSchema', 'errorMessageLimit'],
  Extension: ['entry', 'innermost', 'config', 'configSchema'],
} as const;

function* judgeFields(at: string, spec: object, permitted: readonly string[]): Generator<string> {
  for (const name of Object.keys(spec)) {
    if (!permitted.includes(name))
      yield `${at} has spec.${name}; a new resource of this kind may have ${permitted.join(', ')}.`;
  }
}

function* judgeExports(
  at: string,
  { name, resource }: LoadedResourceOf<'Tool'>,
  change: JudgedChange,
): Generator<string> {
  const { exports } = resource.spec;
  if (exports === undefined)
    yield `${at} has no spec.exports; a new Tool must list its exports, so that their effects are known.`;
  for (const each of exports ?? []) {
    if (each.effects === undefined || each.effects === 'external') continue;
    yield `${at}: the export ${each.name} has effects: ${each.effects}; the effects of a new Tool are external.`;
  }
  // A rule for calls of this name was written for another tool.
  const setting = change.used.settings.find(({ text }) => text.toLowerCase().includes(`${name.toLowerCase()}__`));
  if (setting !== undefined)
    return yield `${at} has a name that the settings of ${setting.identity} use. Choose another name.`;
  for (const each of exports ?? []) {
    const full = `${name}__${each.name}`;
    const rule = change.used.settings.find((other) => hasPatternFor(other, full));
    if (rule === undefined) continue;
    yield `${at}: ${full} matches ${JSON.stringify(rule.text)} in the settings of ${rule.identity}, which may be a rule for other tools. Choose another name.`;
  }
}

/** A pattern without letters and digits, such as `*`, means tools of any name, so it means new ones, too. */
function hasPatternFor({ text }: Setting, toolName: string): boolean {
  if (!/[*?]/.test(text) || !/[\p{L}\p{N}]/u.test(text)) return false;
  return new Bun.Glob(text.toLowerCase().replace(/^!+/, '')).match(toolName.toLowerCase());
}

function* judgeChanged(old: LoadedResource, loaded: LoadedResource, change: JudgedChange): Generator<string> {
  const at = `${loaded.document.file}: ${loaded.identity}`;
  if (old.kind !== 'Agent' || loaded.kind !== 'Agent') {
    return yield `${at} is changed, but a changeset changes only Agents.`;
  }
  const isOfSwarm = change.before.plans.get(change.swarm)?.agents.some(({ agentName }) => agentName === loaded.name);
  if (isOfSwarm !== true)
    yield `${at} is changed, but Swarm/${change.swarm} does not have this agent. A changeset changes only agents of its own swarm.`;
  for (const path of otherFields(old, loaded)) {
    yield `${at}: ${path} is changed, but a changeset changes only spec.prompt and adds to spec.tools and spec.extensions.`;
  }
  yield* judgePrompt(at, old, loaded, change);
  const tools = [...newNames(change, 'Tool'), ...change.addedTools];
  yield* judgeList(`${at}: spec.tools`, 'Tool', [old.resource.spec.tools, loaded.resource.spec.tools], tools);
  const extensions = newNames(change, 'Extension');
  const lists = [old.resource.spec.extensions, loaded.resource.spec.extensions] as const;
  yield* judgeList(`${at}: spec.extensions`, 'Extension', lists, extensions);
  const beside = change.besideOld.get(loaded.identity);
  if (beside !== undefined && (lists[1] ?? []).length > (lists[0] ?? []).length)
    yield `${at}: no extension may be added beside ${beside}, which is for v0.10: the order of its functions does not depend on its place.`;
}

const changeable: readonly string[] = ['prompt', 'tools', 'extensions'];

/** Lists the changed fields that no changeset may change. */
function otherFields(old: LoadedResource, loaded: LoadedResource): string[] {
  const [before, after] = [fieldsOf(old), fieldsOf(loaded)];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => !isEqual(before.get(name), after.get(name)));
}

function fieldsOf({ document: { value } }: LoadedResource): Map<string, unknown> {
  const { spec, ...others } = isPlainObject(value) ? value : {};
  const own = Object.entries(isPlainObject(spec) ? spec : {}).filter(([name]) => !changeable.includes(name));
  return new Map([
    ...Object.entries(others),
    ...own.map(([name, field]): [string, unknown] => [`spec.${name}`, field]),
  ]);
}

/** A prompt must be a prompt file of before, or a file that a changeset created: no other file becomes readable or writable. */
function* judgePrompt(
  at: string,
  old: LoadedResourceOf<'Agent'>,
  loaded: LoadedResourceOf<'Agent'>,
  change: JudgedChange,
): Generator<string> {
  const systemRef = loaded.resource.spec.prompt?.systemRef;
  if (systemRef === undefined || systemRef === old.resource.spec.prompt?.systemRef) return;
  const path = posix.normalize(systemRef);
  const problem = findPathProblem(path);
  if (problem !== undefined) return yield `${at}: the prompt file ${path} ${problem}.`;
  const known = change.before.resources.some(
    (other) => other.kind === 'Agent' && posix.normalize(other.resource.spec.prompt?.systemRef ?? '') === path,
  );
  if (known || isOfChangeset(path, change)) return;
  yield `${at}: ${path} was not a prompt before. Name a prompt file of the bundle, or write a new file.`;
}

function* judgeList(
  at: string,
  kind: 'Tool' | 'Extension',
  [before = [], after = []]: readonly [readonly ListItem[] | undefined, readonly ListItem[] | undefined],
  permitted: readonly string[],
): Generator<string> {
  if (!isEqual(before, after.slice(0, before.length))) {
    return yield `${at}: an item is changed, removed or moved. Add new items at the end and leave the others as they are.`;
  }
  for (const item of after.slice(before.length)) {
    const reference = parseReference(referenceOf(item));
    const shown = `${kind}/${reference?.name ?? ''}`;
    if (reference?.kind !== kind || reference.package !== undefined || !permitted.includes(reference.name)) {
      const which =
        kind === 'Tool' ? 'Tools that this or an earlier changeset added' : 'Extensions that this changeset adds';
      yield `${at}: ${shown} may not be added; only ${which}, without a package.`;
    }
    if (hasValueFrom(item))
      yield `${at}: ${shown} takes a value from the environment (valueFrom), which is not permitted.`;
    if (typeof item === 'object' && 'as' in item && item.as !== undefined) {
      yield `${at}: ${shown} has another name (as), which is not permitted.`;
    }
  }
}

/** Returns true if `valueFrom` is a key anywhere in a value. */
function hasValueFrom(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasValueFrom);
  if (!isPlainObject(value)) return false;
  return Object.entries(value).some(([key, item]) => key === 'valueFrom' || hasValueFrom(item));
}

/** Compares JSON values, regardless of the order of keys. */
export function isEqual(one: unknown, other: unknown): boolean {
  return Bun.deepEquals(one, other, true);
}
