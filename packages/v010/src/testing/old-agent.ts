/** A real agent whose extensions are files for v0.10, loaded with `compat: v010`. The files note when they run. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HookPoint, JsonObject, ModelReply } from '@goondan/types';
import { extensionFile, type ScriptedAgent, scriptedAgent, type ScriptedAgentOptions } from '@goondan/runtime/testing';
import { temporaryBundle } from '../../../runtime/src/testing/temporary-bundle.ts';
import { isMiddlewarePoint, noteOf, type OldExtension, type OldHandler, type Reply } from './pipeline-model.ts';

type Declaration = NonNullable<ScriptedAgentOptions['extensions']>[number];

/** The notes of each bundle, by its folder. The files of old extensions find them in the global object. */
const notesByFolder: Record<string, string[]> = {};
Reflect.set(globalThis, Symbol.for('notes of old extensions'), notesByFolder);

/** Declares the file of an old extension, as a bundle with `compat: v010` does. */
export function oldExtensionFile(name: string, root: string, entry = `./${name}.js`): Declaration {
  const { resource, ...declared } = extensionFile(name, root, entry);
  const digest = Bun.hash(readFileSync(join(root, entry))).toString();
  return {
    ...declared,
    resource: { ...resource, spec: { ...resource.spec, compat: 'v010' } },
    files: [entry.slice(2)],
    digest,
  };
}

const noteFunction = `
const notes = globalThis[Symbol.for('notes of old extensions')][import.meta.dir];
const note = (text) => void notes.push(text);`;

/** The source of an old extension: its `register` adds the handlers, which note themselves, but not at calls of hooks. */
export function sourceOf(extension: OldExtension): string {
  const lines = extension.handlers.map((handler, index) => {
    const note = noteOf(extension, index, handler);
    const { priority, id } = handler;
    const options = priority === undefined && id === undefined ? '' : `, ${JSON.stringify({ priority, id })}`;
    if (isMiddlewarePoint(handler.point))
      return `  api.pipelines.wrap('${handler.point}', around('${note}')${options});`;
    return `  api.pipelines.mutate('${handler.point}', ${mutator(index, note, handler)}${options});`;
  });
  return `${noteFunction}
const noteAt = (ctx, text) => void (ctx.toolCall?.name === 'hook__note' || note(text));
const around = (text) => async (ctx, next) => {
  noteAt(ctx, text + ' in');
  try {
    return await next(ctx);
  } finally {
    noteAt(ctx, text + ' out');
  }
};

export function register(api) {
${lines.join('\n')}
}
`;
}

/** A mutator in one of the ways that people write: it returns its context, a copy of it, or a promise. */
function mutator(index: number, note: string, { decides }: OldHandler): string {
  const change = decides === undefined ? '' : `ctx.shouldRetry = ${decides}; ctx.retryDelayMs = 0; `;
  if (index % 3 === 0) return `(ctx) => { noteAt(ctx, '${note}'); ${change}return ctx; }`;
  if (index % 3 === 1) return `async (ctx) => { noteAt(ctx, '${note}'); await 0; ${change}return { ...ctx }; }`;
  return `async (ctx) => { await 0; noteAt(ctx, '${note}'); ${change}return ctx; }`;
}

export interface OldBundle extends Disposable {
  readonly folder: string;
  readonly extensions: readonly Declaration[];
  /** The texts that the extensions noted with `note(text)`. */
  readonly notes: string[];
}

/** Declares the extension `hooks` of the base library with these hooks. */
export function declaredHooks(hooks: readonly JsonObject[], name = 'hooks'): Declaration {
  const base = join(import.meta.dir, '..', '..', '..', 'base');
  return { ...extensionFile(name, base, './src/extensions/hooks/register.ts', { hooks: [...hooks] }), tier: 'hook' };
}

/** A hook that notes this text with the tool `hook__note`. */
export function notingHook(point: HookPoint, text: string, priority = 0): JsonObject {
  return { point, priority, action: { toolCall: { tool: 'hook__note', args: { text } } } };
}

/** Writes old extensions whose `register(api)` has this code, by their names. */
export function oldBundle(codes: Readonly<Record<string, string>>): OldBundle {
  const files = Object.entries(codes).map(([name, code]) => [
    `${name}.js`,
    `${noteFunction}\nexport function register(api) {\n${code}\n}\n`,
  ]);
  const bundle = temporaryBundle(Object.fromEntries(files));
  const notes = (notesByFolder[bundle.folder] = []);
  return {
    folder: bundle.folder,
    extensions: Object.keys(codes).map((name) => oldExtensionFile(name, bundle.folder)),
    notes,
    [Symbol.dispose]() {
      bundle[Symbol.dispose]();
      delete notesByFolder[bundle.folder];
    },
  };
}

/** Starts an agent with one old extension, `old`, whose `register(api)` has this code. */
export async function startWith(code: string, options: ScriptedAgentOptions = {}) {
  const bundle = oldBundle({ old: code });
  try {
    const agent = await scriptedAgent({ extensions: bundle.extensions, ...options });
    return { agent, notes: bundle.notes, [Symbol.dispose]: () => bundle[Symbol.dispose]() };
  } catch (error) {
    bundle[Symbol.dispose]();
    throw error;
  }
}

export interface OldAgent extends Disposable {
  readonly agent: ScriptedAgent;
  /** Runs a turn with these replies of the LLM, and returns its notes. Its tools call `whileTool`. */
  turn(replies: readonly Reply[], whileTool?: () => Promise<void>): Promise<string[]>;
  /** Loads these old extensions, and holds them. `swap` changes the agent to them, in this order, between two steps. */
  prepare(extensions: readonly OldExtension[]): Promise<{ swap(): Promise<void> }>;
  /** Changes the agent in place to these old extensions. */
  change(extensions: readonly OldExtension[]): Promise<void>;
}

/** Starts an agent with old extensions in files, and any other extensions before and after them. */
export async function startOldAgent(
  extensions: readonly OldExtension[],
  others: { readonly before?: readonly Declaration[]; readonly after?: readonly Declaration[] } = {},
): Promise<OldAgent> {
  const bundle = temporaryBundle({});
  const notes: string[] = [];
  notesByFolder[bundle.folder] = notes;
  const declare = (wanted: readonly OldExtension[]): Declaration[] => {
    for (const each of wanted) writeFileSync(join(bundle.folder, `${each.name}.js`), sourceOf(each));
    const old = wanted.map(({ name }) => oldExtensionFile(name, bundle.folder));
    return [...(others.before ?? []), ...old, ...(others.after ?? [])];
  };
  let left: Reply[] = [];
  let calls = 0;
  let whileCalled: (() => Promise<void>) | undefined;
  const generate = async (): Promise<ModelReply> => {
    notes.push('LLM');
    const reply = left.shift() ?? [];
    if (reply === 'error') throw new Error('The LLM is busy.');
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    if (reply.length === 0) return { content: [{ type: 'text', text: 'done' }], finishReason: 'stop', usage };
    const content = reply.map((name) => ({
      type: 'tool-call' as const,
      toolCallId: `call-${++calls}`,
      toolName: `${name}__run`,
      input: {},
    }));
    return { content, finishReason: 'tool-calls', usage };
  };
  const noteOfHook = {
    name: 'hook',
    exports: [{ name: 'note', description: 'Notes.' }],
    handlers: { note: (_ctx: unknown, { text }: JsonObject) => void notes.push(typeof text === 'string' ? text : '') },
  };
  const tools = [
    ...toolNames.map((name) => ({
      name,
      exports: [{ name: 'run', description: 'Runs.' }],
      handlers: {
        async run() {
          notes.push(`tool ${name}`);
          await whileCalled?.();
        },
      },
    })),
    noteOfHook,
  ];
  const agent = await scriptedAgent({
    bundleFolder: bundle.folder,
    model: { generate },
    tools,
    extensions: declare(extensions),
    policy: { maxStepRetries: 5 },
  });
  const { plan } = agent.agent.parts;
  const prepare = (wanted: readonly OldExtension[]) =>
    agent.agent.prepare({
      agentName: 'tested',
      bundleFolder: bundle.folder,
      modelRef: plan.modelRef,
      models: plan.openModel.entries,
      policy: plan.policy,
      tools,
      extensions: declare(wanted),
    });
  return {
    agent,
    prepare,
    async turn(replies, whileTool) {
      left = [...replies];
      notes.length = 0;
      whileCalled = whileTool;
      await agent.say('Go!');
      return [...notes];
    },
    async change(wanted) {
      await (await prepare(wanted)).swap();
    },
    [Symbol.dispose]() {
      bundle[Symbol.dispose]();
      delete notesByFolder[bundle.folder];
    },
  };
}

/** The tools that replies can call. */
export const toolNames = ['x', 'y'] as const;
