/**
 * A model of v0.10, written from document 003 alone: the registry of §11.1, the step of §11.2, the turn of §12, with
 * `step.llmInput` where §3.3 has it. The model predicts the order in which the handlers of old extensions run. Tests
 * compare a real agent with it, so it imports nothing.
 */

export const mutatorPoints = [
  'turn.pre',
  'turn.post',
  'step.pre',
  'step.config',
  'step.tools',
  'step.blocks',
  'step.llmInput',
  'step.llmError',
  'step.post',
  'toolCall.pre',
  'toolCall.post',
] as const;

export const middlewarePoints = ['step.llmCall', 'toolCall.exec'] as const;

export type MutatorPoint = (typeof mutatorPoints)[number];
export type MiddlewarePoint = (typeof middlewarePoints)[number];
export type PipelinePoint = MutatorPoint | MiddlewarePoint;

/** A handler that notes when it runs. */
export interface OldHandler {
  readonly point: PipelinePoint;
  readonly priority?: number;
  readonly id?: string;
  /** At `step.llmError`: the value that the handler sets `shouldRetry` to. A handler without it changes nothing. */
  readonly decides?: boolean;
}

/** An old extension, with its handlers in the order in which `register` adds them. */
export interface OldExtension {
  readonly name: string;
  readonly handlers: readonly OldHandler[];
}

/** A reply of the LLM: an error, or the names of the tools that it calls. A reply without calls ends the turn. */
export type Reply = 'error' | readonly string[];

/** Returns the note of a handler: its place among the handlers of its extension, and its point. */
export function noteOf({ name }: OldExtension, index: number, { point }: OldHandler): string {
  return `${point} ${name}#${index}`;
}

/**
 * Predicts the notes of one turn. Mutators note themselves once, middlewares before and after `next()`, and the core
 * notes each LLM call and each tool.
 */
export async function predictTurn(extensions: readonly OldExtension[], replies: readonly Reply[]): Promise<string[]> {
  const notes: string[] = [];
  const registry = new PipelineRegistry();
  // §7.1: extensions register in the order of the agent's `extensions`.
  for (const extension of extensions) register(extension, registry, notes);
  await executeTurn(registry, replies, notes).catch((error: unknown) => {
    if (!(error instanceof LlmError)) throw error;
  });
  return notes;
}

function register(extension: OldExtension, registry: PipelineRegistry, notes: string[]): void {
  for (const [index, handler] of extension.handlers.entries()) {
    const note = noteOf(extension, index, handler);
    const { point } = handler;
    if (isMiddlewarePoint(point)) {
      registry.wrap(
        point,
        async (ctx, next) => {
          notes.push(`${note} in`);
          try {
            return await next(ctx);
          } finally {
            notes.push(`${note} out`);
          }
        },
        handler,
      );
    } else {
      registry.mutate(
        point,
        (ctx) => {
          notes.push(note);
          return handler.decides === undefined ? ctx : { ...ctx, shouldRetry: handler.decides };
        },
        handler,
      );
    }
  }
}

export function isMiddlewarePoint(point: PipelinePoint): point is MiddlewarePoint {
  return middlewarePoints.some((each) => each === point);
}

class LlmError extends Error {}

interface Context {
  readonly shouldRetry?: boolean;
}

type Mutator = (ctx: Context) => Promise<Context> | Context;
type Middleware = (ctx: Context, next: Next) => Promise<unknown>;
type Next = (ctx: Context) => Promise<unknown>;

interface Entry<Function> {
  readonly fn: Function;
  readonly priority: number;
  readonly id: string | undefined;
  readonly registrationOrder: number;
}

/** §11.1. */
class PipelineRegistry {
  readonly #mutators = new Map<MutatorPoint, Entry<Mutator>[]>();
  readonly #middlewares = new Map<MiddlewarePoint, Entry<Middleware>[]>();

  mutate(point: MutatorPoint, fn: Mutator, options?: { readonly priority?: number; readonly id?: string }): void {
    const entries = this.#mutators.get(point) ?? [];
    entries.push({ fn, priority: options?.priority ?? 0, id: options?.id, registrationOrder: entries.length });
    this.#mutators.set(point, entries);
  }

  wrap(point: MiddlewarePoint, fn: Middleware, options?: { readonly priority?: number; readonly id?: string }): void {
    const entries = this.#middlewares.get(point) ?? [];
    entries.push({ fn, priority: options?.priority ?? 0, id: options?.id, registrationOrder: entries.length });
    this.#middlewares.set(point, entries);
  }

  async runMutators(point: MutatorPoint, initialCtx: Context): Promise<Context> {
    let ctx = initialCtx;
    for (const entry of sorted(this.#mutators.get(point) ?? [])) ctx = await entry.fn(ctx);
    return ctx;
  }

  async runMiddleware(point: MiddlewarePoint, ctx: Context, core: Next): Promise<unknown> {
    let next = core;
    for (const entry of sorted(this.#middlewares.get(point) ?? []).toReversed()) {
      const currentNext = next;
      next = (each) => entry.fn(each, currentNext);
    }
    return next(ctx);
  }
}

/** Lower priorities first, equal ones in the order of their registration. */
function sorted<Function>(entries: readonly Entry<Function>[]): Entry<Function>[] {
  return entries.toSorted((a, b) =>
    a.priority === b.priority ? a.registrationOrder - b.registrationOrder : a.priority - b.priority,
  );
}

/** §12: `turn.pre`, steps until one has no tool call, `turn.post`. */
async function executeTurn(registry: PipelineRegistry, replies: readonly Reply[], notes: string[]): Promise<void> {
  const left = [...replies];
  const ctx = await registry.runMutators('turn.pre', {});
  for (;;) {
    const calls = await executeStep(registry, ctx, left, notes);
    if (calls.length === 0) break;
  }
  await registry.runMutators('turn.post', ctx);
}

/** §11.2. Returns the tool calls of the step. */
async function executeStep(
  registry: PipelineRegistry,
  initialCtx: Context,
  replies: Reply[],
  notes: string[],
): Promise<readonly string[]> {
  let ctx = await registry.runMutators('step.pre', initialCtx);
  ctx = await registry.runMutators('step.config', ctx);
  ctx = await registry.runMutators('step.tools', ctx);
  ctx = await registry.runMutators('step.blocks', ctx);
  ctx = await registry.runMutators('step.llmInput', ctx);
  let toolCalls: readonly string[] = [];
  try {
    await registry.runMiddleware('step.llmCall', ctx, async () => {
      notes.push('LLM');
      const reply = replies.shift() ?? [];
      if (reply === 'error') throw new LlmError();
      toolCalls = reply;
      return reply;
    });
  } catch (error) {
    const { shouldRetry } = await registry.runMutators('step.llmError', { ...ctx, shouldRetry: false });
    if (shouldRetry === true) return executeStep(registry, ctx, replies, notes);
    throw error;
  }
  for (const toolCall of toolCalls) {
    const callCtx = await registry.runMutators('toolCall.pre', ctx);
    await registry.runMiddleware('toolCall.exec', callCtx, async () => void notes.push(`tool ${toolCall}`));
    await registry.runMutators('toolCall.post', callCtx);
  }
  await registry.runMutators('step.post', ctx);
  return toolCalls;
}
