/** `logging`: logs the duration of turns, steps and tool calls. It never changes their results. */
import { type ExtensionRegister, isCancellation, type StepResult, type TurnResult } from '@goondan/types';
import { describeArguments } from './describe-arguments.ts';

export interface LoggingConfig {
  /** The level of the log lines. Failures are always logged as `error`; a cancelled turn is not a failure. */
  readonly level?: 'debug' | 'info';
  /** If true, log lines include the arguments of tool calls. */
  readonly includeToolArgs?: boolean;
}

/** The options of the layers. `onError` is `skip`, because a failure while logging must not stop the agent. */
const watching = { name: 'logging', onError: 'skip', priority: -1_000 } as const;

export const register: ExtensionRegister<LoggingConfig> = (api, { level = 'info', includeToolArgs = false }) => {
  const say = (text: string) => api.logger[level](text);

  api.pipeline.register('turn', (ctx) => timed(ctx, `Turn ${ctx.turnId}`, describeTurn), watching);
  api.pipeline.register('step', (ctx) => timed(ctx, `Step ${ctx.stepIndex}`, describeStep), watching);
  api.pipeline.register(
    'toolCall',
    (ctx) => {
      const args = includeToolArgs ? ` ${describeArguments(ctx.args)}` : '';
      return timed(ctx, `${ctx.toolName}${args}`, ({ status, error }) => error?.code ?? status);
    },
    watching,
  );

  /** Calls `next`, then logs `what`, the outcome and the duration. */
  async function timed<Result>(
    ctx: { next(): Promise<Result> },
    what: string,
    describe: (result: Result) => string,
  ): Promise<Result> {
    const startedAt = performance.now();
    const duration = () => `${Math.round(performance.now() - startedAt)} ms`;
    try {
      const result = await ctx.next();
      say(`${what}: ${describe(result)}, ${duration()}`);
      return result;
    } catch (error) {
      if (isCancellation(error)) say(`${what}: cancelled, ${duration()}`);
      else
        api.logger.error(`${what}: failed, ${duration()}: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  }
};

function describeTurn({ finishReason, truncated }: TurnResult): string {
  return truncated === true ? `${finishReason}, truncated` : finishReason;
}

function describeStep({ toolCalls: { length } }: StepResult): string {
  return length === 1 ? '1 tool call' : `${length} tool calls`;
}
