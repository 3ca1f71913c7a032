/** The points around the model call of a step: `step.llmInput` and `step.llmCall`. */
import type { ModelMessage, ModelMiddlewareContext, ModelReply } from '@goondan/types';
import { firstBlocks, showBlocks } from './blocks.ts';
import { compatError, isMistake } from './compat-error.ts';
import type { Entry } from './entries.ts';
import type { Hosted } from './host-chain.ts';
import { defineLazy, isUntouched } from './lazy.ts';
import { LlmInput } from './llm-input.ts';
import { checkLlmResult, isSame, toLlmResult, toModelReply } from './llm-result.ts';
import type { PointRun } from './old-context.ts';
import type { LlmResult, OldStepContext } from './old-types.ts';
import { runMiddleware, runMutators } from './run-functions.ts';
import { toNewItems, toOldItems, withOldFields } from './tool-items.ts';
import type { StepState } from './turn-state.ts';

export async function runModelCall(hosted: Hosted, step: StepState, ctx: ModelMiddlewareContext): Promise<ModelReply> {
  ctx.messages = withBlocks(step, ctx.messages);
  const run: PointRun = { ...hosted, layer: ctx, take: openInput(step, ctx) };
  try {
    step.fields = await runMutators(run, 'step.llmInput', step.fields);
    return await callModel(run, step, ctx);
  } finally {
    Reflect.deleteProperty(step.fields, 'llmInput');
  }
}

/** Remembers a failure for `step.llmError`. The points before the call are not part of it, as in 003 §11.2. */
async function callModel(run: PointRun, step: StepState, ctx: ModelMiddlewareContext): Promise<ModelReply> {
  const id = `${step.step.id}.reply`;
  let reply: ModelReply | undefined;
  const core = async (): Promise<LlmResult> => toLlmResult((reply = await ctx.next()), id);
  try {
    const result = await runMiddleware(run, 'step.llmCall', step.fields, core, checkLlmResult);
    step.step.llmResult = result;
    return reply !== undefined && isSame(result, toLlmResult(reply, id)) ? reply : toModelReply(result, reply);
  } catch (thrown) {
    if (!isMistake(thrown)) step.failure = { thrown };
    throw thrown;
  }
}

/** Puts the blocks in the place of the system prompt, unless nobody has read them. */
function withBlocks({ blocks, systemPrompt }: StepState, messages: ModelMessage[]): ModelMessage[] {
  if (blocks === undefined) return messages;
  const [first] = messages;
  const hasPrompt = first?.role === 'system' && first.content === systemPrompt();
  return [...showBlocks(blocks), ...messages.slice(hasPrompt ? 1 : 0)];
}

/**
 * Adds the messages and the tools of the model call to the context. Returns the function that gives both to the runtime
 * as a function left them.
 */
function openInput(step: StepState, ctx: ModelMiddlewareContext): (returned: object, entry: Entry) => void {
  const { messages } = ctx;
  let input: LlmInput | undefined;
  const open = () => (input ??= new LlmInput(messages, idsOf(step)));
  const fields = Object.defineProperties({}, Object.getOwnPropertyDescriptors(step.fields));
  defineLazy(fields, 'llmInput', () => [...open().list]);
  const offered = ctx.tools;
  const before = isUntouched(fields, 'toolCatalog') ? [] : (fields as OldStepContext).toolCatalog;
  // Read again, because layers further in may have changed the tools after `step.tools`.
  defineLazy(fields, 'toolCatalog', () => withOldFields(toOldItems(offered, step.ctx.runtime), before));
  const blocks = JSON.stringify(step.blocks);
  const shown = () => blocks ?? JSON.stringify(firstBlocks(step.systemPrompt()));
  step.fields = fields;

  return (returned, { member, point }) => {
    const changed = returned as OldStepContext;
    if (!isUntouched(returned, 'blocks') && JSON.stringify(changed.blocks) !== shown()) {
      throw compatError(
        member.name,
        `changed ctx.blocks at ${point}`,
        'Change the blocks at step.blocks, or change ctx.llmInput at step.llmInput.',
      );
    }
    if (!isUntouched(returned, 'llmInput')) {
      ctx.messages = open().read(changed.llmInput, member.name, point) ?? [...messages];
    }
    if (isUntouched(returned, 'toolCatalog')) return;
    const items = toNewItems(changed.toolCatalog, offered);
    if (isSame(items, ctx.tools)) return;
    ctx.tools = items;
    // The model may call only tools of the step.
    step.ctx.toolCatalog = items;
  };
}

/** Returns a function that finds the id of a message of the conversation. */
function idsOf({ ctx }: StepState): (message: ModelMessage) => string | undefined {
  const ids = new Map(ctx.conversationState.nextMessages.map(({ id, data }) => [data, id]));
  return (message) => ids.get(message);
}
