/** Reads the answer of a turn from its message, and finds out whether it fits the demand. Pure. */
import { GoondanError, type JsonValue, type Message } from '@goondan/types';
import { copyJson, NotJson } from '../../json/copy-json.ts';
import type { Demand } from './demand.ts';

/** The maximum number of problems for the model, and the maximum length of each. */
const MOST_PROBLEMS = 10;
const LONGEST_PROBLEM = 300;

/**
 * Reads the JSON value in the text of a message. The whole text must be JSON, or the last of several text parts. One
 * code fence around the JSON is accepted.
 */
export function readAnswer(message: Message | undefined): { readonly value: JsonValue } | { readonly problem: string } {
  const texts = textsOf(message);
  const whole = texts.join('');
  if (whole.trim() === '') return { problem: 'the answer is empty' };
  for (const text of [whole, texts.at(-1) ?? '']) {
    const parsed = parse(withoutFence(text.trim()));
    if (parsed === undefined) continue;
    const problem = findProblem(parsed.value);
    return problem === undefined ? parsed : { problem };
  }
  return { problem: 'the answer is not JSON' };
}

/** Returns the reason why parsed JSON cannot be an answer. */
function findProblem(value: JsonValue): string | undefined {
  try {
    copyJson(value);
    return undefined;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    // A number that is too large is parsed as an infinity. Nothing but that and the depth can be wrong with parsed JSON.
    if (!error.problem.includes('Infinity')) return 'the answer is nested too deep';
    return `${error.path === '' ? 'the answer' : error.path} is a number that is too large: at most ${Number.MAX_VALUE} is allowed`;
  }
}

/** Returns the problems of an answer; an empty list when it fits. `isTruncated`: true if the reply is incomplete. */
export function findAnswerProblems(
  { check }: Demand,
  message: Message | undefined,
  isTruncated: boolean,
): readonly string[] {
  // The beginning of an answer may fit the schema, too.
  if (isTruncated) return ['the reply reached its token limit and is incomplete'];
  const read = readAnswer(message);
  if ('problem' in read) return [read.problem];
  return boundProblems(check(read.value).map((problem) => problem.message));
}

export function boundProblems(problems: readonly string[]): readonly string[] {
  const shown = problems
    .slice(0, MOST_PROBLEMS)
    .map((problem) => (problem.length > LONGEST_PROBLEM ? `${problem.slice(0, LONGEST_PROBLEM - 1)}…` : problem));
  const more = problems.length - shown.length;
  return more > 0 ? [...shown, `${more} more`] : shown;
}

/** Returns the text with which the runtime sends a wrong answer back to the model. */
export function correctionFor(problems: readonly string[]): string {
  return `Your answer does not fit the demanded JSON Schema: ${problems.join('; ')}. Answer again with JSON that fits, and nothing else.`;
}

/** Returns the error of a turn whose answer is wrong. */
export function outputError(problems: readonly string[]): GoondanError {
  return new GoondanError('E_OUTPUT_SCHEMA', `The answer does not fit the demanded schema: ${problems.join('; ')}.`);
}

function textsOf(message: Message | undefined): string[] {
  if (message === undefined) return [];
  const { content } = message.data;
  if (typeof content === 'string') return [content];
  return content.flatMap((part) => (part.type === 'text' && part.text.trim() !== '' ? [part.text] : []));
}

const fence = /^```[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n?```$/;

function withoutFence(text: string): string {
  return fence.exec(text)?.[1] ?? text;
}

function parse(text: string): { readonly value: JsonValue } | undefined {
  try {
    // Safe: JSON.parse returns JSON.
    return { value: JSON.parse(text) as JsonValue };
  } catch {
    return undefined;
  }
}
