/** Loads the parts of an agent in the order of their declaration: tools, then extensions, one after the other. */
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import { type ExtensionDeps, ExtensionPart } from '../extension/extension-part.ts';
import type { ExtensionDeclaration } from '../extension/load-extension.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';
import { codeOf, fileOf } from '../tool/tool-fingerprint.ts';
import { takenByDeclared, ToolRegistry } from '../tool/tool-registry.ts';
import type { AgentPart, PartDeclaration, WantedParts } from './agent-part.ts';
import { matchParts } from './match-parts.ts';

export interface LoadPartsOptions {
  /** The parts of which the wanted plan may retain some. */
  readonly running: readonly AgentPart[];
  /** The stage of each loaded extension. */
  readonly stage: 'held' | 'in place';
  readonly deps: ExtensionDeps;
  readonly clock: Clock;
  /** Returns true for the name of a declared tool in place. */
  readonly isDeclared: (name: string) => boolean;
  /** Called with each new part, before it is loaded, and all parts so far. */
  readonly onOpened: (part: AgentPart, parts: readonly AgentPart[]) => void;
  /** When it is aborted, no further part is loaded, and the abort reason is thrown. */
  readonly signal?: AbortSignal | undefined;
}

/** Returns all parts of the wanted plan: the retained ones, and those that were loaded. */
export async function loadParts(
  { tools, extensions }: WantedParts,
  options: LoadPartsOptions,
): Promise<readonly AgentPart[]> {
  const { running, signal, onOpened } = options;
  const wanted = [...tools, ...extensions];
  const retained = matchParts(running, wanted);
  const declared = new Set(retained.flatMap((part) => (part === undefined ? [] : declaredNames(part))));
  const parts: AgentPart[] = [];
  for (const [index, declaration] of wanted.entries()) {
    const kept = retained[index];
    if (kept !== undefined) {
      parts.push(kept);
      continue;
    }
    signal?.throwIfAborted();
    const opened = openPart(declaration, declared, options);
    parts.push(opened.part);
    onOpened(opened.part, [...parts]);
    await untilAborted(namedWhenSlow(opened, declaration, options), signal);
    for (const name of declaredNames(opened.part)) declared.add(name);
  }
  refuseTakenNames(parts, declared);
  return parts;
}

/** The time after which the log names the part that is still being loaded. */
const SLOW_MS = 3_000;

/**
 * Loads the part. If this takes long, the log names the part: the process may be killed because it is not ready in time,
 * and only the process knows what it waits for. If it blocks the process, the orchestrator names it.
 */
async function namedWhenSlow(
  { load }: Pick<ReturnType<typeof openPart>, 'load'>,
  declaration: PartDeclaration,
  { deps, clock }: Pick<LoadPartsOptions, 'deps' | 'clock'>,
): Promise<void> {
  const [kind, name] =
    'resource' in declaration ? ['Extension', declaration.resource.metadata.name] : ['Tool', declaration.name];
  const callOff = clock.after(SLOW_MS, () => {
    const waits = kind === 'Extension' ? 'its import or its register has not settled' : 'its import has not settled';
    deps.log('warn', `${kind}/${name} is still being loaded after ${SLOW_MS / 1_000} s: ${waits}.`, {
      event: 'part.slow',
      ...(kind === 'Extension' ? { extension: name } : {}),
    });
  });
  const { entry } = 'resource' in declaration ? declaration.resource.spec : declaration;
  const file = fileOf(codeOf({ ...declaration, ...defined({ entry }) }));
  const leave = deps.running.enter(`while loading ${file ?? `${kind}/${name}`}`);
  try {
    await load();
  } finally {
    leave();
    callOff();
  }
}

/** Waits for the part, or throws the abort reason at once. */
async function untilAborted(loading: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return loading;
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    await Promise.race([loading, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function openPart(
  declaration: ToolDeclaration | ExtensionDeclaration,
  declared: ReadonlySet<string>,
  { deps, stage, isDeclared }: LoadPartsOptions,
): { readonly part: AgentPart; load(): Promise<void> } {
  if (!('resource' in declaration)) {
    const tools = new ToolRegistry(deps.onRefusedTool, (name) => declared.has(name));
    const load = async () => (await import('../tool/load-tool.ts')).loadTool(declaration, tools);
    return { part: { declaration, tools, extension: undefined }, load };
  }
  // A held extension is checked against the tools of its own plan.
  const isTaken = (name: string) => (extension.isHeld ? declared.has(name) : isDeclared(name));
  const extension: ExtensionPart = new ExtensionPart(declaration, deps, stage, isTaken);
  const load = async () => (await import('../extension/load-extension.ts')).loadExtension(declaration, extension);
  return { part: { declaration, tools: extension.tools, extension }, load };
}

function declaredNames({ extension, tools }: AgentPart): string[] {
  return extension === undefined ? tools.items().map(({ name }) => name) : [];
}

/** Throws if a retained extension has registered a tool whose name a new declared tool has. */
function refuseTakenNames(parts: readonly AgentPart[], declared: ReadonlySet<string>): void {
  for (const { extension, tools } of parts) {
    const taken = tools.items().find(({ name }) => declared.has(name));
    if (extension !== undefined && taken !== undefined) throw takenByDeclared(extension.name, taken.name);
  }
}
