/**
 * A model without network and key: it answers by the rules of a script, deterministically. Demos, tests, examples and
 * benchmarks run on it, so it sets no timer unless a latency is configured.
 */
import { GoondanError, type AssistantPart, type ModelMessage, type ModelReply } from '@goondan/types';
import { defined } from '../../../json/defined.ts';
import { sleep, type Clock } from '../../../ports/clock.ts';
import type { Model, ModelRequest } from '../model-port.ts';
import { checkScript } from '../../../config/script/check-script.ts';
import { openUsageCounter } from './count-tokens.ts';
import { fillObject, fillText, type TemplateValues } from './fill-template.ts';
import { matchRule } from './match-rule.ts';
import { findLastCallNumber, nameCall } from './number-calls.ts';
import {
  findNewestMessage,
  readNewestUserFiles,
  readNewestUserText,
  readOutput,
  readText,
  readToolResult,
} from './read-message.ts';
import { rememberTurns, type TurnMemory } from './remember-turns.ts';
import type { AnswerAction, FailAction, Rule } from '../../../config/script/script.ts';
import { streamText } from './stream-text.ts';

/** The number of turns to remember: the running turn, and recent turns that may be retried or replayed. */
const rememberedTurns = 64;
const quotedLength = 200;

/**
 * Opens the model. **Errors** — opening: `E_MODEL_SCRIPT`. Answering: the error of a `fail` rule; `E_MODEL_NO_RULE`
 * when no rule matches; the signal's reason when it aborts.
 */
export function openScriptedModel(options: unknown, clock: Clock): Model {
  const script = checkScript(options);
  const recallTurn = rememberTurns(rememberedTurns);
  const countUsage = openUsageCounter();

  return {
    async generate(request): Promise<ModelReply> {
      request.signal.throwIfAborted();
      request.onSent?.({ provider: 'scripted' });
      const turn = recallTurn(request.turnId);
      const newest = findNewestMessage(request.messages);
      const match = matchRule(script.rules, newest, (rule) => turn.failures.get(rule) ?? 0);
      if (match === undefined) throw noRuleError(newest);
      const answer = decideAnswer(match, newest, request, turn);

      if (script.latencyMs > 0) await sleep(clock, script.latencyMs, request.signal);
      if (GoondanError.is(answer)) throw answer;
      for (const part of answer) {
        if (part.type === 'text') await streamText(part.text, script.tokensPerSecond, request, clock);
      }
      const finishReason = answer.some((part) => part.type === 'tool-call') ? 'tool-calls' : 'stop';
      return { content: answer, finishReason, usage: countUsage(request.messages, answer) };
    },
  };
}

/**
 * Chooses the rule and counts the call before anything is awaited, because two calls of one turn may run at the same
 * time.
 */
function decideAnswer(
  { rule, groups }: NonNullable<ReturnType<typeof matchRule>>,
  newest: ModelMessage | undefined,
  request: ModelRequest,
  turn: TurnMemory,
): AssistantPart[] | GoondanError {
  const { action } = rule;
  if (action.type === 'fail') return countFailure(rule, action, turn);
  const toolResult = readToolResult(newest);
  const values: TemplateValues = {
    groups,
    input: () => readNewestUserText(request.messages),
    files: () => readNewestUserFiles(request.messages),
    ...(toolResult === undefined ? {} : { result: readOutput(toolResult.output) }),
  };
  return writeAnswer(action, values, request.messages, turn);
}

function countFailure(rule: Rule, action: FailAction, turn: TurnMemory): GoondanError {
  turn.failures.set(rule, (turn.failures.get(rule) ?? 0) + 1);
  const { code, message, retryable, retryAfterMs, failure } = action;
  return new GoondanError(code, message, { retryable, ...defined({ retryAfterMs, failure }) });
}

function writeAnswer(
  action: AnswerAction,
  values: TemplateValues,
  messages: readonly ModelMessage[],
  turn: TurnMemory,
): AssistantPart[] {
  const parts: AssistantPart[] = [];
  const text = fillText(action.say ?? '', values);
  // An empty text is added only to a reply without calls: a reply must have at least one part, but providers reject an
  // empty text beside calls.
  if (text !== '' || action.calls.length === 0) parts.push({ type: 'text', text });
  if (action.calls.length === 0) return parts;
  // The turn's own count is needed if a layer truncated the conversation: ids of removed calls must not be reused.
  let number = Math.max(turn.lastCallNumber, findLastCallNumber(messages));
  for (const { tool, args } of action.calls) {
    number += 1;
    const input = fillObject(args, values);
    parts.push({ type: 'tool-call', toolCallId: nameCall(number), toolName: tool, input });
  }
  turn.lastCallNumber = number;
  return parts;
}

function noRuleError(newest: ModelMessage | undefined): GoondanError {
  const what = newest === undefined ? 'a conversation without messages' : `the newest message, ${quote(newest)}`;
  return new GoondanError('E_MODEL_NO_RULE', `No rule of the scripted model matches ${what}.`);
}

/** Describes a message as `user: "…"`, or `tool (weather__get): {"tempC":3}`. */
function quote(message: ModelMessage): string {
  const toolResult = readToolResult(message);
  if (toolResult === undefined) return `${message.role}: ${JSON.stringify(cut(readText(message)))}`;
  return `tool (${toolResult.toolName}): ${cut(JSON.stringify(readOutput(toolResult.output)))}`;
}

function cut(text: string): string {
  return text.length > quotedLength ? `${text.slice(0, quotedLength)}…` : text;
}
