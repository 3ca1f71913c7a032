/**
 * `required-tools`: a turn can end with an answer only after the model has called certain tools successfully. An earlier
 * answer is removed, and a reminder names the missing tools.
 *
 * 1. A removed answer reaches nobody: the layer buffers, so its text is not streamed.
 * 2. The reminder is ephemeral, so the history contains neither the removed answer nor the reminder.
 * 3. The reminders are counted in the turn's metadata, which a retry and a resumed turn keep.
 */
import {
  createUserMessage,
  type ExtensionRegister,
  GoondanError,
  type MessageEvent,
  type StepMiddlewareContext,
} from '@goondan/types';

export interface RequiredToolsConfig {
  /** Names of tools, such as `weather__get`. */
  readonly tools: readonly string[];
  /** `all` tools must be called, or `any` one of them. */
  readonly require?: 'all' | 'any';
  /** The beginning of the reminder; the names of the missing tools follow. */
  readonly errorMessage?: string;
  /** The maximum number of reminders in a turn. */
  readonly maxReminders?: number;
  /** The end of a turn whose tools are missing after the last reminder: it fails, or its answer counts. */
  readonly whenMissing?: 'fail' | 'answer';
}

export const register: ExtensionRegister<RequiredToolsConfig> = (api, config, { name }) => {
  const { require = 'all', maxReminders = 2, whenMissing = 'fail' } = config;
  const tools = [...new Set(config.tools)];
  const introduction = config.errorMessage ?? `Before you answer, call ${wanted[require]} successfully:`;
  const counter = `${name}.reminders`;
  const suggestion = `Correct \`tools\` in the config of Extension/${name}, or give the tool to the agent.`;

  api.pipeline.register(
    'step',
    async (ctx) => {
      const before = ctx.conversationState.events.length;
      const result = await ctx.next();
      if (result.hasToolCalls || result.status === 'failed') return result;
      const missing = missingIn(ctx);
      if (missing.length === 0) return result;
      const sent = Number(ctx.metadata[counter] ?? 0);
      const unknown = unknownAmong(missing, ctx);
      const problem = unknown.length > 0 ? describeUnknown(unknown) : describeMissing(missing, sent);
      const isLast = unknown.length > 0 || sent >= maxReminders;
      if (isLast && whenMissing === 'answer') {
        api.logger.warn(problem);
        return result;
      }
      withdrawAnswer(ctx, before);
      if (isLast) throw new GoondanError('E_REQUIRED_TOOLS', problem, unknown.length > 0 ? { suggestion } : {});
      ctx.metadata[counter] = sent + 1;
      const id = `${ctx.turnId}.${name}-${ctx.stepIndex}`;
      const text = `${introduction} ${missing.join(', ')}`;
      ctx.emitMessageEvent({ type: 'append', message: createUserMessage(text, {}, { id, lifetime: 'turn' }) });
      // Another step follows, as after tool calls.
      return { ...result, hasToolCalls: true };
    },
    { name: 'require', buffers: true },
  );

  /** Lists the tools that still have to be called; with `any`, all tools until one was called. */
  function missingIn({ turn: { toolResults } }: StepMiddlewareContext): string[] {
    const called = new Set(toolResults.flatMap(({ status, toolName }) => (status === 'ok' ? [toolName] : [])));
    const missing = tools.filter((tool) => !called.has(tool));
    return require === 'any' && missing.length < tools.length ? [] : missing;
  }

  /** Lists missing tools that the agent does not have, if they keep the model from meeting the requirement. */
  function unknownAmong(missing: readonly string[], { runtime, toolCatalog }: StepMiddlewareContext): string[] {
    const known = new Set([...runtime.tools, ...toolCatalog].map((tool) => tool.name));
    const unknown = missing.filter((tool) => !known.has(tool));
    return require === 'any' && unknown.length < missing.length ? [] : unknown;
  }
};

const wanted = { all: 'each of these tools', any: 'at least one of these tools' };

/** Removes the answer of this step from the conversation. `before`: the number of events when the step began. */
function withdrawAnswer(ctx: StepMiddlewareContext, before: number): void {
  const { events, nextMessages } = ctx.conversationState;
  const answers = new Set(events.slice(before).flatMap(answerIn));
  for (const { id } of nextMessages) if (answers.has(id)) ctx.emitMessageEvent({ type: 'remove', targetId: id });
}

function answerIn(event: MessageEvent): string[] {
  return 'message' in event && event.message.source.type === 'assistant' ? [event.message.id] : [];
}

function describeUnknown(unknown: readonly string[]): string {
  return `The agent has no tool ${quote(unknown)}, which the turn requires.`;
}

function describeMissing(missing: readonly string[], reminders: number): string {
  const after = reminders === 1 ? 'a reminder' : `${reminders} reminders`;
  return `The model answered without a successful call of ${quote(missing)}${reminders === 0 ? '' : `, after ${after}`}.`;
}

function quote(names: readonly string[]): string {
  return names.map((each) => `"${each}"`).join(', ');
}
