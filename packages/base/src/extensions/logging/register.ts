/** `logging`: logs the duration of turns, steps and tool calls. It never changes them. */
import { type ExtensionRegister, isCancellation } from '@goondan/types';
import { describeArguments } from './describe-arguments.ts';

export interface LoggingConfig {
  /** The level of the log lines. Failures are always logged as `error`; a cancelled turn is not a failure. */
  readonly level?: 'debug' | 'info';
  /** If true, log lines include the arguments of tool calls. */
  readonly includeToolArgs?: boolean;
}

/** Uses `skip`, because a failure while logging must not stop the agent. */
const watching = { onError: 'skip', priority: -1_000 } as const;

export const register: ExtensionRegister<LoggingConfig> = (api, { level = 'info', includeToolArgs = false }) => {
  const say = (text: string) => api.logger[level](text);

  api.pipeline.register(
    'turn',
    (ctx) =>
      timed(
        `Turn ${ctx.turnId}`,
        () => ctx.next(),
        ({ finishReason, truncated }) => (truncated === true ? `${finishReason}, truncated` : finishReason),
      ),
    { ...watching, name: 'logging' },
  );
  api.pipeline.register(
    'step',
    (ctx) =>
      timed(
        `Step ${ctx.stepIndex}`,
        () => ctx.next(),
        ({ toolCalls }) => countCalls(toolCalls.length),
      ),
    { ...watching, name: 'logging' },
  );
  api.pipeline.register(
    'toolCall',
    (ctx) => {
      const args = includeToolArgs ? ` ${describeArguments(ctx.args)}` : '';
      return timed(
        `${ctx.toolName}${args}`,
        () => ctx.next(),
        ({ status, error }) => error?.code ?? status,
      );
    },
    { ...watching, name: 'logging' },
  );

  /** Calls `next`, then logs `what`, the outcome and the duration. */
  async function timed<Result>(what: string, next: () => Promise<Result>, outcome: (result: Result) => string) {
    const startedAt = performance.now();
    const duration = () => `${Math.round(performance.now() - startedAt)} ms`;
    try {
      const result = await next();
      say(`${what}: ${outcome(result)}, ${duration()}`);
      return result;
    } catch (error) {
      if (isCancellation(error)) say(`${what}: cancelled, ${duration()}`);
      else
        api.logger.error(`${what}: failed, ${duration()}: ${error instanceof Error ? error.message : String(error)}`);
      throw error;
    }
  }
};

function countCalls(count: number): string {
  return count === 1 ? '1 tool call' : `${count} tool calls`;
}
