/**
 * Compares two plans of one agent and lists the fate of each of its parts. Parts are compared by identity and
 * declaration, never by their position in a list: a part that only moves is retained.
 */
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';
import { digestJson } from '../json/digest-json.ts';
import { maskJson, maskSecrets } from '../log/mask-secrets.ts';
import type { DeclaredAgent } from './declared-agent.ts';
import type { DeclaredExtension } from './declared-extension.ts';
import type { DeclaredTool } from './declared-tool.ts';
import { mergeConfig } from './merge-config.ts';

export interface PartChange {
  /** Such as `Extension/logging`, `Tool/files (@acme/tools)`, `Hook/notify`, `Model/main` or `Prompt`. */
  readonly identity: string;
  readonly fate: 'retained' | 'updated' | 'added' | 'removed';
}

export interface AgentReconcile {
  /**
   * The extensions, tools and hooks in the order of the wanted plan, then the changed fields of the agent, such as
   * `Prompt`. Removed parts are last.
   */
  readonly parts: readonly PartChange[];
  /** The reason why the process is replaced between turns. Absent when the running process can take the change. */
  readonly replaces?: string;
}

type Part = DeclaredExtension | DeclaredTool;
type DeclaredParts = Pick<DeclaredAgent, 'extensions' | 'tools'>;
type ProcessPlan = DeclaredParts &
  Pick<DeclaredAgent, 'environment' | 'isolation' | 'workdir' | 'bundleFolder' | 'packages' | 'policy'>;

export function reconcileAgent(running: DeclaredAgent, wanted: DeclaredAgent): AgentReconcile {
  const parts = compare(new Map(digestsOf(running)), new Map(digestsOf(wanted)));
  const fields = compare(fieldsOf(running), fieldsOf(wanted)).filter(({ fate }) => fate !== 'retained');
  const all = [...parts, ...fields];
  const reasons = [...findReasons(running, wanted)];
  return {
    parts: [...all.filter(({ fate }) => fate !== 'removed'), ...all.filter(({ fate }) => fate === 'removed')],
    ...(reasons.length === 0 ? {} : { replaces: reasons.join(', and ') }),
  };
}

/** Returns true if parts that both plans have are in another order. */
export function isReordered(running: DeclaredParts, wanted: DeclaredParts): boolean {
  const [before, after] = [byIdentity(running), byIdentity(wanted)];
  const stayed = [...before.keys()].filter((identity) => after.has(identity));
  const wantedOrder = [...after.keys()].filter((identity) => before.has(identity));
  return stayed.some((identity, index) => identity !== wantedOrder[index]);
}

/** Returns the identity of a part in its agent: kind and name, and the package if the part comes from one. */
export function identityOf(part: Part): string {
  const name = 'resource' in part ? `Extension/${part.resource.metadata.name}` : `Tool/${part.name}`;
  return part.package === undefined ? name : `${name} (${part.package})`;
}

/**
 * Returns a hash of a part's declaration: its module, config, tier and exports. A different hash means that the part
 * must be loaded again. The config may have secrets, so the hash must not be stored.
 */
export function declarationDigest(part: Part): string {
  // `digest` covers the names and the contents of the files.
  const { files: _, lazy: _lazy, ...declaration } = part;
  // The place of a keeper is not declared.
  const keeper = 'keeper' in part && part.keeper !== undefined ? { keeper: part.keeper.entry } : {};
  // Safe: a plan is JSON.
  return digestJson({ ...declaration, ...keeper } as unknown as JsonObject);
}

/**
 * Lists the files of the bundle to import anew: those of added and updated parts, without the files that a retained
 * part has, too. These are unchanged, because the digest of the retained part covers them.
 */
export function filesToRefresh(running: DeclaredParts, wanted: DeclaredParts): readonly string[] {
  const before = byIdentity(running);
  const isRetained = (part: Part) => {
    const old = before.get(identityOf(part));
    return old !== undefined && isSame(old, part);
  };
  const all = partsOf(wanted);
  const retained = new Set(all.filter(isRetained).flatMap(pathsOf));
  const changed = new Set(all.filter((part) => !isRetained(part)).flatMap(pathsOf));
  return [...changed].filter((path) => !retained.has(path)).toSorted();
}

function partsOf({ extensions = [], tools = [] }: DeclaredParts): readonly Part[] {
  return [...extensions, ...tools];
}

function byIdentity(agent: DeclaredParts): Map<string, Part> {
  return new Map(partsOf(agent).map((part) => [identityOf(part), part]));
}

function pathsOf({ root, files = [] }: Part): string[] {
  return files.map((file) => join(root, file));
}

function isSame(one: Part, other: Part): boolean {
  return declarationDigest(one) === declarationDigest(other);
}

/** Compares digests by identity. The result has the order of `after`, then the removed ones. */
function compare(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): PartChange[] {
  const wanted = [...after].map(([identity, digest]): PartChange => {
    const old = before.get(identity);
    return { identity, fate: old === undefined ? 'added' : old === digest ? 'retained' : 'updated' };
  });
  const removed = [...before.keys()].filter((identity) => !after.has(identity));
  return [...wanted, ...removed.map((identity): PartChange => ({ identity, fate: 'removed' }))];
}

function* digestsOf(agent: DeclaredAgent): Generator<[identity: string, digest: string]> {
  for (const part of partsOf(agent)) yield [identityOf(part), declarationDigest(part)];
  if (agent.agentTools === true) yield ['Tool/agents', ''];
  yield* hooksOf(agent);
}

/** The digests of the fields of an agent that are not parts of their own, by name. Absent fields are left out. */
function fieldsOf(agent: DeclaredAgent): Map<string, string> {
  const { systemPrompt, description, models, modelRef = Object.keys(models)[0], params = {}, policy, mayAsk } = agent;
  const { isolation, maxInstances, output } = agent;
  const fields: [string, unknown][] = [
    ['Prompt', systemPrompt],
    ['Description', description],
    ...Object.entries(models),
    ['ModelConfig', { modelRef, params }],
    ['Output', output],
    ['Policy', policy],
    ['MayAsk', mayAsk],
    ['Isolation', isolation],
    ['MaxInstances', maxInstances],
  ];
  return new Map(fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, digestOf(value)]])));
}

function digestOf(value: unknown): string {
  // Safe: a plan is JSON, and the conversion leaves out what is undefined.
  return digestJson(JSON.parse(JSON.stringify(value)) as JsonValue);
}

/** Lists the declarative hooks of an agent. The config of each extension of the tier `hook` has a list of them. */
function* hooksOf({ extensions = [], secrets = [] }: DeclaredAgent): Generator<[identity: string, digest: string]> {
  const mask = maskSecrets(secrets);
  const seen = new Map<string, number>();
  for (const { resource, config = {}, tier } of extensions) {
    const { hooks } = mergeConfig(resource.spec.config ?? {}, config);
    if (tier !== 'hook' || !Array.isArray(hooks)) continue;
    const { name } = resource.metadata;
    for (const hook of hooks) {
      if (!isPlainObject(hook)) continue;
      // The identity is shown to people, so it has no secrets.
      const own = hookName(maskJson(hook, mask) as JsonObject);
      const identity = name === 'hooks' ? `Hook/${own}` : `Hook/${name}/${own}`;
      const times = (seen.get(identity) ?? 0) + 1;
      seen.set(identity, times);
      yield [times === 1 ? identity : `${identity} (${times})`, digestJson(hook)];
    }
  }
}

/** Returns the id of a hook, or else a text of its point, its priority, and the tool or program of its action. */
function hookName({ id, point, priority = 0, action = {} }: JsonObject): string {
  if (typeof id === 'string') return id;
  const { toolCall, command } = isPlainObject(action) ? action : {};
  const [program] = Array.isArray(command) ? command : [];
  const called = isPlainObject(toolCall) ? ['toolCall', toolCall.tool] : ['command', program];
  return [point, priority, ...called].map((each) => toText(each)).join(':');
}

function toText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

/** Lists the reasons why a running process cannot take the change. */
export function* findReasons(running: ProcessPlan, wanted: ProcessPlan): Generator<string> {
  if (digestOf(running.environment ?? {}) !== digestOf(wanted.environment ?? {})) yield 'its environment has changed';
  if (running.isolation !== wanted.isolation) yield 'its isolation has changed';
  if (running.workdir !== wanted.workdir) yield 'its working folder has changed';
  if (running.bundleFolder !== wanted.bundleFolder) yield 'the folder of its bundle has changed';
  // The code of a part is watched from its import on.
  if (isTraced(running) !== isTraced(wanted)) yield 'the recording of its turns was switched on or off';
  if (running.packages !== wanted.packages) yield 'the lock file of its packages has changed';
  const before = byIdentity(running);
  const after = byIdentity(wanted);
  const removed = [...before].flatMap(([identity, part]) => (after.has(identity) ? [] : [part]));
  for (const [identity, part] of after) {
    const old = before.get(identity) ?? removed.find((other) => isSameModule(other, part));
    if (old === undefined || isSame(old, part)) continue;
    if (part.exclusive === true) yield `${identity} is exclusive and has changed`;
    else if (old.exclusive === true) yield `${identity} was exclusive and has changed`;
    if (part.package !== undefined && hasOtherModule(old, part)) yield `the code of ${identity} has changed`;
  }
  // Bun has one module for each file: an `import()` in the old code would get the module of the new code.
  const anew = new Set(filesToRefresh(running, wanted));
  for (const [identity, part] of before) {
    if (part.lazy === true && pathsOf(part).some((path) => anew.has(path)))
      yield `${identity} imports files while it runs`;
  }
}

function isTraced({ policy }: ProcessPlan): boolean {
  return policy?.trace !== 'off';
}

/** Returns true for a part that was removed and added again under another name. */
function isSameModule(one: Part, other: Part): boolean {
  return entryOf(one) === entryOf(other);
}

function hasOtherModule(one: Part, other: Part): boolean {
  return !isSameModule(one, other) || one.digest !== other.digest;
}

function entryOf(part: Part): string {
  return join(part.root, 'resource' in part ? part.resource.spec.entry : part.entry);
}
