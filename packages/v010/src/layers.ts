/**
 * The layers of an old extension: turn, step, model and toolCall, as far as its functions need them.
 *
 * In each chain only the first of these layers acts: it runs the functions of all old extensions in the order of v0.10,
 * and the declared hooks after them at each point. The others call `next()`. So the functions keep running when the first
 * extension leaves.
 */
import {
  GoondanError,
  type MiddlewareKind,
  type ModelMiddlewareContext,
  type ModelReply,
  type StepMiddlewareContext,
  type StepResult,
  type ToolCallMiddlewareContext,
  type ToolCallResult,
  type TurnMiddlewareContext,
  type TurnResult,
} from '@goondan/types';
import { firstBlocks } from './blocks.ts';
import { entriesAt } from './entries.ts';
import { hostChain } from './host-chain.ts';
import { defineLazy, isUntouched } from './lazy.ts';
import { isSame } from './llm-result.ts';
import type { Member } from './member.ts';
import { runHooks } from './run-hooks.ts';
import { runModelCall } from './run-model-call.ts';
import { runToolCall } from './run-tool-call.ts';
import type { OldStepContext, LlmErrorContext } from './old-types.ts';
import type { PointRun } from './old-context.ts';
import type { Point } from './points.ts';
import { runMutators } from './run-functions.ts';
import { toNewItems, toOldItems } from './tool-items.ts';
import type { StepState } from './turn-state.ts';

export function hangLayers(member: Member): void {
  const { pipeline } = member.api;
  const points = [...new Set(member.entries.list.map(({ point }) => point))];
  const kinds = new Set(points.flatMap((point) => kindsFor(point)));
  const nameOf = (kind: MiddlewareKind) => ['v010', ...points.filter((point) => kindsFor(point)[0] === kind)].join(' ');
  if (kinds.has('turn')) pipeline.register('turn', (ctx) => aroundTurn(member, ctx), { name: nameOf('turn') });
  if (kinds.has('step')) pipeline.register('step', (ctx) => aroundStep(member, ctx), { name: nameOf('step') });
  // A function that wraps the call may change the text, so no text leaves before it has returned.
  const options = { name: nameOf('model'), mayShortCircuit: true, buffers: points.includes('step.llmCall') };
  if (kinds.has('model')) pipeline.register('model', (ctx) => aroundModel(member, ctx), options);
  const around = { name: nameOf('toolCall'), mayShortCircuit: true };
  if (kinds.has('toolCall')) pipeline.register('toolCall', (ctx) => aroundToolCall(member, ctx), around);
}

/**
 * Returns the kinds of layers that the functions at a point need. The first one runs them, and the others fill in their
 * context: the step layer fills in the tools and the results, the model layer sends the blocks and has the reply.
 */
function kindsFor(point: Point): readonly [MiddlewareKind, ...MiddlewareKind[]] {
  if (point === 'turn.pre') return ['turn'];
  if (point === 'turn.post') return ['turn', 'step'];
  if (point === 'step.llmInput' || point === 'step.llmCall') return ['model', 'step'];
  return point.startsWith('step.') ? ['step', 'model'] : ['toolCall', 'step', 'model'];
}

function aroundTurn(member: Member, ctx: TurnMiddlewareContext): Promise<TurnResult> {
  return hostChain(member, ctx, 'turn', async (hosted) => {
    const { state, members, hooks } = hosted;
    const run: PointRun = { ...hosted, layer: ctx };
    await loadStates(members);
    state.open(ctx);
    state.fields = await runMutators(run, 'turn.pre', state.fields);
    await runHooks(hooks, 'turn.pre');
    const result = await ctx.next();
    await loadStates(members);
    state.fields = await runMutators(run, 'turn.post', state.fields);
    await runHooks(hooks, 'turn.post', result);
    return result;
  });
}

async function loadStates(members: readonly Member[]): Promise<void> {
  for (const { state } of members) await state.load();
}

function aroundStep(member: Member, ctx: StepMiddlewareContext): Promise<StepResult> {
  return hostChain(member, ctx, `step ${ctx.stepIndex}`, async (hosted) => {
    try {
      return await runStep({ ...hosted, layer: ctx }, ctx);
    } finally {
      hosted.state.step = undefined;
    }
  });
}

async function runStep(run: PointRun, ctx: StepMiddlewareContext): Promise<StepResult> {
  const { state, members, hooks } = run;
  await loadStates(members);
  const earlier = [...ctx.turn.toolResults];
  const step = openStep(run, ctx);
  state.step = step;
  state.open(ctx);
  state.setResults(earlier);
  await prepareStep(run, step);
  const result = await nextOrFailure(run, step);
  state.failures = 0;
  state.setResults(earlier, result.toolResults);
  step.step.endedAt = new Date();
  await runMutators(run, 'step.post', step.fields);
  await runHooks(hooks, 'step.post', result);
  return result;
}

function openStep({ state }: PointRun, ctx: StepMiddlewareContext): StepState {
  const { turnId, stepIndex, bundleFolder } = ctx;
  const step = { id: `${turnId}.step-${stepIndex}`, index: stepIndex, startedAt: new Date() };
  const fields = Object.defineProperties({}, Object.getOwnPropertyDescriptors(state.fields));
  const systemPrompt = () => findPrompt(ctx);
  Object.assign(fields, { step, activeSwarmRef: bundleFolder });
  defineLazy(fields, 'blocks', () => firstBlocks(systemPrompt()));
  defineLazy(fields, 'toolCatalog', () => toOldItems(ctx.toolCatalog, ctx.runtime));
  return { ctx, step, fields, systemPrompt };
}

/** Returns the system prompt, which the model gets before the messages of the conversation. */
function findPrompt({ conversationState }: StepMiddlewareContext): string | undefined {
  const first = conversationState.toLlmMessages()[0];
  const isPrompt = first?.role === 'system' && first !== conversationState.nextMessages[0]?.data;
  return isPrompt ? first.content : undefined;
}

/** Runs the points before the model call. Gives the tools to the runtime after each, because the hooks there see them. */
async function prepareStep(run: PointRun, step: StepState): Promise<void> {
  for (const point of ['step.pre', 'step.config', 'step.tools', 'step.blocks'] as const) {
    step.fields = await runMutators(run, point, step.fields);
    giveTools(step);
    await runHooks(run.hooks, point);
  }
  const fields = step.fields as OldStepContext;
  if (!isUntouched(fields, 'blocks')) step.blocks = fields.blocks;
}

function giveTools({ ctx, fields }: StepState): void {
  if (isUntouched(fields, 'toolCatalog')) return;
  const items = toNewItems((fields as OldStepContext).toolCatalog, ctx.toolCatalog);
  if (!isSame(items, ctx.toolCatalog)) ctx.toolCatalog = items;
}

/**
 * Runs the rest of the step. If its model call failed, the functions at `step.llmError` decide whether the runtime tries
 * again, and the hooks follow. They run here and not in the model layer, so that the message events they emit survive
 * the retry.
 */
async function nextOrFailure(run: PointRun, step: StepState): Promise<StepResult> {
  const { ctx } = step;
  try {
    return await ctx.next();
  } catch (thrown) {
    if (ctx.signal.aborted) throw thrown;
    const decided = step.failure === undefined ? thrown : await decideRetry(run, step, thrown);
    await runHooks(run.hooks, 'step.llmError', decided);
    throw decided;
  }
}

const RETRY_DELAY_MS = 1_000;

/** Returns the error with the decision of the functions. Without a function, the runtime decides. */
async function decideRetry(run: PointRun, { fields }: StepState, thrown: unknown): Promise<unknown> {
  const { state, members } = run;
  const retryCount = state.failures;
  state.failures += 1;
  if (entriesAt(members, 'step.llmError').length === 0) return thrown;
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { retryable, retryAfterMs } = error as Error & { retryable?: unknown; retryAfterMs?: unknown };
  const known = typeof retryAfterMs === 'number' ? retryAfterMs : RETRY_DELAY_MS;
  const given = { error, retryCount, shouldRetry: false, retryDelayMs: known };
  const asked = Object.assign(Object.defineProperties({}, Object.getOwnPropertyDescriptors(fields)), given);
  const { shouldRetry, retryDelayMs } = (await runMutators(run, 'step.llmError', asked)) as unknown as LlmErrorContext;
  if (!shouldRetry && retryable !== true) return thrown;
  const wait = Number.isFinite(retryDelayMs) && retryDelayMs >= 0 ? retryDelayMs : RETRY_DELAY_MS;
  return withDecision(thrown, error, { retryable: shouldRetry, ...(shouldRetry ? { retryAfterMs: wait } : {}) });
}

/** Writes the decision on the error itself, so that it stays an error of the model and not of an extension. */
function withDecision(
  thrown: unknown,
  error: Error,
  decision: { readonly retryable: boolean; readonly retryAfterMs?: number },
): unknown {
  const fields = Object.entries(decision);
  const write = ([key, value]: [string, unknown]) => Reflect.defineProperty(error, key, { value, configurable: true });
  if (error === thrown && fields.every(write)) return thrown;
  // The error is frozen, or it is not an object.
  const code = GoondanError.is(error) ? error.code : 'E_MODEL_FAILED';
  return new GoondanError(code, error.message, { cause: thrown, ...decision });
}

async function aroundModel(member: Member, ctx: ModelMiddlewareContext): Promise<ModelReply> {
  // A model call of an extension does not belong to a step.
  if (ctx.extension !== undefined) return ctx.next();
  return hostChain(member, ctx, `model ${ctx.stepIndex}`, (hosted) => {
    const { step } = hosted.state;
    return step?.step.index === ctx.stepIndex ? runModelCall(hosted, step, ctx) : ctx.next();
  });
}

function aroundToolCall(member: Member, ctx: ToolCallMiddlewareContext): Promise<ToolCallResult> {
  return hostChain(member, ctx, `toolCall ${ctx.toolCallId}`, (hosted) => runToolCall(hosted, ctx));
}
