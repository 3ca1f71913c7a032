/** The outcome of a turn, as `gdn run` and `gdn send --wait` report it. */
import type { Acceptance, TurnEnd } from '@goondan/runtime';
import { describeTurnUsage } from '@goondan/runtime/internal';
import {
  endingOf,
  type ErrorCode,
  type GoondanError,
  type JsonValue,
  textOf,
  type TokenUsage,
  type TurnError,
  type TurnResult,
} from '@goondan/types';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { wrapMessage } from '../fit-width.ts';
import { harmlessText } from '../harmless-text.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import { reportTurnError } from '../report-error.ts';
import type { Terminal } from '../terminal.ts';
import { describeLimits } from './describe-limits.ts';

/** The output of `--json`. Fields may be added, but are never renamed. */
export interface TurnReport {
  readonly agent: string;
  readonly instanceKey: string;
  readonly turnId: string;
  readonly traceId: string;
  /** Empty when the turn failed. */
  readonly response: string;
  readonly finishReason: TurnResult['finishReason'];
  /** True when the response reached a token limit and is incomplete. */
  readonly truncated?: boolean;
  /** The answer as JSON, if the input or the agent demanded a schema. */
  readonly output?: JsonValue;
  readonly steps: number;
  /** The tokens of the turn's own model calls and of the agents that it called. */
  readonly usage: TokenUsage;
  /** The part of `usage` that called agents used; absent if there is none. */
  readonly called?: TokenUsage;
  /** Present when the turn failed. */
  readonly error?: TurnError;
  /**
   * What becomes of the input without an answer. `kept`: the model sees it with the next input of the conversation.
   * `queued`: it is handled later. `withdrawn`: nobody answers it, and no model sees it.
   */
  readonly input?: 'kept' | 'queued' | 'withdrawn';
}

export function reportOf({ agent, instanceKey, traceId, result, stepCount, usage, called }: TurnEnd): TurnReport {
  const { turnId, finishReason, truncated, output, error, responseMessage } = result;
  return {
    agent,
    instanceKey,
    turnId,
    traceId,
    response: textOf(responseMessage),
    finishReason,
    ...(truncated === true ? { truncated } : {}),
    ...(output === undefined ? {} : { output }),
    steps: stepCount,
    usage,
    ...(called === undefined ? {} : { called }),
    ...(error === undefined ? {} : { error }),
    ...(endingOf(result) === 'failed' && { input: 'kept' as const }),
  };
}

/**
 * Returns the text of the answer for people and pipes. An answer with a schema is always JSON, even if the model wrote
 * something around it.
 */
export function answerText({ response, output }: TurnReport): string {
  return output === undefined || isJson(response) ? response : JSON.stringify(output);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Reports an accepted input whose turn did not end: its agent does not start, or the connection to the swarm was lost.
 */
export function reportWithoutEnd(
  { agent, instanceKey, turnId, traceId }: Acceptance,
  error: GoondanError,
  isWithdrawn: boolean,
): TurnReport {
  const { code, message, suggestion, place } = error;
  const input = isWithdrawn ? 'withdrawn' : saysFate(error) ? undefined : 'queued';
  return {
    agent,
    instanceKey,
    turnId,
    traceId,
    response: '',
    finishReason: 'error',
    steps: 0,
    usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    error: { code, message, suggestion: withFate(code, suggestion, input), ...(place === undefined ? {} : { place }) },
    ...(input && { input }),
  };
}

/**
 * Adds what becomes of the input. If a person fixed the agent and sent a queued input again, the agent would answer
 * twice.
 */
function withFate(code: ErrorCode, advice: string, input: TurnReport['input']): string {
  if (input === undefined) return advice;
  // The author of an extension may have written the advice without a full stop.
  const suggestion = /[.!?。！？…]["'”’)]*\s*$/.test(advice) ? advice : `${advice}.`;
  const time = code === 'E_STORE_AWAY' ? 'the database is back' : 'the agent starts';
  if (input === 'withdrawn') return `${suggestion} The input was withdrawn: type the command again when ${time}.`;
  return `${suggestion} The input is kept, so do not send it again: it is handled when ${time}.`;
}

/** True if the error already says what happens to the accepted input: the agent did not fail to start. */
export function saysFate({ code }: GoondanError): boolean {
  return SAY_THE_FATE.has(code);
}

const SAY_THE_FATE: ReadonlySet<ErrorCode> = new Set([
  'E_CANCELLED',
  'E_INSTANCE_DELETED',
  'E_CONTROL_CLOSED',
  'E_SWARM_STOPPED',
]);

/** Tells a person that the input of a failed turn is part of the conversation. */
export function tellPiledUp({ agent, instanceKey, input }: TurnReport, terminal: Terminal): void {
  if (input !== 'kept' || terminal.errorsAsJson) return;
  const at = [agent, instanceKey].map((name) => quoteForShell(name)).join(' ');
  const how = terminal.suggest(
    `To go on without it, type \`gdn fork ${at} --at TURN --as KEY\` with an earlier turn of \`gdn history ${at}\`.`,
  );
  const what = 'The input stays in the conversation, and the model sees it with the next one.';
  const text = wrapMessage(harmlessText(`${what} ${how}`), terminal.errorColumns);
  terminal.printError(`${terminal.errorColors.dim(text)}\n`);
}

/** Prints the outcome of a turn on standard error, and returns the exit code. */
export function exitAfter(report: TurnReport, terminal: Terminal): ExitCode {
  const { finishReason, error, steps, usage } = report;
  if (terminal.showsProgress && usage.totalTokens > 0) {
    terminal.printError(`${terminal.errorColors.dim(describeTurnUsage(report))}\n`);
  }
  if (finishReason === 'error') return reportTurnError(error ?? { message: 'The turn failed.' }, terminal);
  for (const limit of describeLimits(report, steps)) terminal.printError(`warn: ${limit}\n`);
  return exitCodes.ok;
}
