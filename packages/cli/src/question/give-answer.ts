/**
 * The work of `gdn approve`, `gdn deny` and `gdn answer` with an id. The question is read first, then the person is asked, if
 * the command line has no answer, and then the answer is given: nothing is locked while a person thinks.
 */
import type { QuestionSummary } from '@goondan/runtime';
import { type AlwaysScope, GoondanError } from '@goondan/types';
import type { BundleOptions } from '../common-options.ts';
import type { Result } from '../gdn-command.ts';
import { interrupted } from '../interrupted.ts';
import type { Terminal } from '../terminal.ts';
import { askQuestion } from './ask-question.ts';
import { describeQuestion, onStandardError } from './describe-question.ts';
import { findQuestion } from './find-question.ts';
import type { PersonAnswer } from './person-answer.ts';
import { personName } from './person-name.ts';
import { readFormValues, readJsonOption } from './read-answer-options.ts';
import { showText } from './show-text.ts';
import { terminalAsker } from './terminal-asker.ts';
import { withQuestions } from './with-questions.ts';
import { describeEffect, nameAnswer } from './wording.ts';

const KEPT = ' The swarm is not running: its next start uses the answer.';

export interface ApproveOptions extends BundleOptions {
  readonly note?: string;
  readonly always?: AlwaysScope;
  readonly edit?: boolean;
  readonly args?: string;
}

/** **Errors** — `E_USAGE`, `E_CANCELLED`, `E_QUESTION_REPLY`; those of `withQuestions` and of an answer. */
export async function approveQuestion(
  id: string,
  options: ApproveOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Result> {
  const { note, always, edit = false, args } = options;
  if (edit && args !== undefined) throw new GoondanError('E_USAGE', 'Use either `--edit` or `--args`.');
  const edited = args === undefined ? {} : { args: await readJsonOption('--args', args) };
  const question = await readQuestion(id, options, signal);
  if (question?.kind === 'form') throw needsForm(id);
  if (edit && question !== undefined && question.kind !== 'call') throw hasNoArguments(id);
  if (edit) needTerminal(terminal, `gdn approve ${id} --args JSON`);
  const asked = edit && question !== undefined ? await askHere(question, terminal, signal, true) : undefined;
  const answer: PersonAnswer = asked ?? { decision: 'approved', ...edited };
  // A person who says no at the editor allows nothing.
  const allowed = always !== undefined && answer.decision === 'approved' ? { always } : {};
  return give(id, question, { ...(note !== undefined && { note }), ...allowed, ...answer }, options, terminal, signal);
}

export interface DenyOptions extends BundleOptions {
  readonly reason?: string;
}

/** Declines a question, or revokes what is always allowed. **Errors** — those of `withQuestions` and of an answer. */
export async function denyQuestion(
  id: string,
  options: DenyOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Result> {
  const { reason } = options;
  const question = await readQuestion(id, options, signal);
  if (question === undefined && (await revoke(id, options, signal)))
    return { json: { revoked: true }, text: 'Revoked: such calls are asked about again.\n' };
  const answer: PersonAnswer = { decision: 'denied', ...(reason !== undefined && { note: reason }) };
  return give(id, question, answer, options, terminal, signal);
}

export interface AnswerOptions extends BundleOptions {
  readonly content?: string;
}

/** **Errors** — `E_USAGE`, `E_CANCELLED`, `E_QUESTION_REPLY`; those of `withQuestions` and of an answer. */
export async function answerQuestion(
  id: string,
  values: readonly string[],
  options: AnswerOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Result> {
  const { content } = options;
  if (content !== undefined && values.length > 0)
    throw new GoondanError('E_USAGE', 'Use either `--content` or NAME=VALUE.');
  const given = content === undefined ? undefined : await readJsonOption('--content', content);
  const question = await readQuestion(id, options, signal);
  // The swarm says why nobody can answer it.
  if (question === undefined) return give(id, question, { decision: 'approved' }, options, terminal, signal);
  if (given !== undefined || values.length > 0) {
    if (question.kind !== 'form') throw hasNoForm(question);
    const filled = given ?? readFormValues(question, values);
    return give(id, question, { decision: 'approved', content: filled }, options, terminal, signal);
  }
  needTerminal(terminal, question.kind === 'form' ? `gdn answer ${id} NAME=VALUE` : `gdn approve ${id}`);
  return give(id, question, await askHere(question, terminal, signal), options, terminal, signal);
}

function readQuestion(id: string, options: BundleOptions, signal: AbortSignal): Promise<QuestionSummary | undefined> {
  return withQuestions(options, signal, async (door) => findQuestion(await door.questions(), id));
}

/** Returns false if nothing is always allowed under this id. */
function revoke(id: string, options: BundleOptions, signal: AbortSignal): Promise<boolean> {
  return withQuestions(options, signal, async (door, via) => {
    if (!(await door.grants()).some((grant) => grant.id === id)) return false;
    await door.revoke({ id, by: personName(), via });
    return true;
  });
}

/** Asks at this terminal, as the chat does. **Errors** — `E_CANCELLED` if the person leaves the question open. */
async function askHere(
  question: QuestionSummary,
  terminal: Terminal,
  signal: AbortSignal,
  isEditing = false,
): Promise<PersonAnswer> {
  terminal.printError(describeQuestion(question, onStandardError(terminal), false));
  const answer = await askQuestion(question, terminalAsker(terminal, signal), isEditing);
  if (answer === undefined) throw interrupted(`${question.id} stays unanswered.`);
  return answer;
}

async function give(
  id: string,
  question: QuestionSummary | undefined,
  answer: PersonAnswer,
  options: BundleOptions,
  { suggest }: Terminal,
  signal: AbortSignal,
): Promise<Result> {
  const seen = question === undefined ? { id } : { id: question.id, digest: question.digest };
  const kept = await withQuestions(options, signal, async (door, via) => {
    await door.answer({ ...seen, by: personName(), via, ...answer });
    return via === 'disk' ? KEPT : '';
  });
  const { decision, args, always, content } = answer;
  const word = nameAnswer(question?.kind ?? 'call', { decision });
  const effect = question && describeEffect(question, answer);
  return {
    json: { [word.toLowerCase()]: true, ...(args && { args }), ...(content && { content }), ...(always && { always }) },
    text: `${effect === undefined ? `${word}.` : `${word}: ${suggest(showText(effect))}.`}${kept}\n`,
  };
}

function needTerminal(terminal: Terminal, instead: string): void {
  if (terminal.canAsk) return;
  const suggestion = `Put the answer into the command, as in \`${instead}\`.`;
  throw new GoondanError('E_USAGE', 'This is not a terminal, so nobody can be asked.', { suggestion });
}

function needsForm(id: string): GoondanError {
  const suggestion = `Answer it with \`gdn answer ${id}\`.`;
  return new GoondanError('E_QUESTION_REPLY', `The question "${id}" needs more than yes or no.`, { suggestion });
}

function hasNoArguments(id: string): GoondanError {
  const suggestion = `Answer it with \`gdn approve ${id}\` or \`gdn deny ${id}\`.`;
  return new GoondanError('E_QUESTION_REPLY', `The question "${id}" has no arguments to edit.`, { suggestion });
}

function hasNoForm({ id, kind }: QuestionSummary): GoondanError {
  const how = kind === 'call' ? ` \`gdn approve ${id} --args JSON\` runs it with other arguments.` : '';
  const suggestion = `Answer it with \`gdn approve ${id}\` or \`gdn deny ${id}\`.${how}`;
  return new GoondanError('E_QUESTION_REPLY', `The question "${id}" has no form.`, { suggestion });
}
