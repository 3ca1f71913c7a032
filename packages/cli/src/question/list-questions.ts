/** The list of `gdn approve`: the open questions, and below it everything that is always allowed. */
import type { QuestionSummary } from '@goondan/runtime';
import type { GrantSummary } from '@goondan/runtime/control';
import type { BundleOptions } from '../common-options.ts';
import type { Result } from '../gdn-command.ts';
import { harmlessText } from '../harmless-text.ts';
import type { Terminal } from '../terminal.ts';
import { describeGrant } from './describe-grant.ts';
import { describeQuestion } from './describe-question.ts';
import { type QuestionDoor, withQuestions } from './with-questions.ts';

/** **Errors** — those of `withQuestions`. */
export async function listQuestions(options: BundleOptions, terminal: Terminal, signal: AbortSignal): Promise<Result> {
  const read = (door: QuestionDoor) => Promise.all([door.questions(), door.grants()]);
  const warn = (problem: string) => terminal.printError(`warn: ${harmlessText(problem)}\n`);
  const [questions, grants] = await withQuestions(options, signal, read, warn);
  return { json: { questions, grants }, text: describeAll(questions, grants, terminal) };
}

function describeAll(
  questions: readonly QuestionSummary[],
  grants: readonly GrantSummary[],
  terminal: Terminal,
): string {
  const { colors, isWatched, suggest } = terminal;
  const asked = questions.map((question) => describeQuestion(question, terminal)).join('');
  const commands = [
    ...(questions.some(({ kind }) => kind !== 'form') ? ['`gdn approve ID`'] : []),
    ...(questions.some(({ kind }) => kind === 'form')
      ? [isWatched ? '`gdn answer ID`' : '`gdn answer ID NAME=VALUE`']
      : []),
    '`gdn deny ID --reason TEXT`',
  ];
  const how = questions.length === 0 ? '' : `${suggest(`Answer with ${commands.join(' or ')}.`)}\n`;
  const none = questions.length === 0 ? 'Nothing is waiting for an answer.\n' : '';
  if (grants.length === 0) return `${none}${asked}${how}`;
  const allowed = grants.map((grant) => describeGrant(grant, colors, isWatched)).join('');
  return `${none}${asked}${how}\nAlways allowed:\n${allowed}${suggest('Revoke with `gdn deny ID`.')}\n`;
}
