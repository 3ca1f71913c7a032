import type { QuestionSummary } from '@goondan/runtime';
import { readForm } from '@goondan/runtime/control';
import { shortIdOfEvent } from '@goondan/runtime/internal';
import type { JsonObject } from '@goondan/types';
import { asPlainLines, type DiffLine, layOutLines, summarizeDiffs } from '../show-diff.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';
import type { Colors } from '../colors.ts';
import { wrapWords } from '../fit-width.ts';
import { describeField } from './describe-field.ts';
import { type AskedChange, readChange } from './read-change.ts';
import { showText } from './show-text.ts';
import { describeWish } from './wording.ts';

/**
 * The maximum number of characters of the arguments that are shown. If there are more, the text says how many. `gdn
 * approve --json` prints all of them.
 */
const MOST_SHOWN = 4_000;

/** Describes a question for the person who answers it. The fields of a form are listed if `listsFields` is true. */
export function describeQuestion(
  question: QuestionSummary,
  { colors, isWatched, columns }: Pick<Terminal, 'colors' | 'isWatched' | 'columns'>,
  listsFields = true,
): string {
  const head = wrapWords(questionHead(question, colors), columns, '    ');
  return `${head}\n${layOutLines(questionLines(question, isWatched, listsFields), colors, columns).join('')}`;
}

/** Standard error as the place of a question. */
export function onStandardError({ errorColors, errorColumns, canAsk }: Terminal) {
  return { colors: errorColors, columns: errorColumns, isWatched: canAsk };
}

/** Returns the first line of the description: id, agent, and its wish. */
export function questionHead(question: QuestionSummary, colors: Colors): string {
  const { id, agent, instanceKey } = question;
  const wish = showText(describeWish(question));
  return `${colors.bold(id)}  ${showText(agent)} (${showText(instanceKey)}) ${colors.bold(wish)}`;
}

/** Returns the other lines of the description. */
export function questionLines(
  question: QuestionSummary,
  isWatched: boolean,
  listsFields: boolean,
): readonly DiffLine[] {
  const { kind, reason } = question;
  const change = readChange(question);
  // The reason says everything about a budget.
  const subject =
    change === undefined ? (kind === 'budget' ? [] : asPlainLines(subjectOf(question))) : changeLines(change);
  const fields = kind === 'form' && listsFields ? asPlainLines(fieldsOf(question)) : [];
  return [
    ...(kind === 'form' || kind === 'page' ? [] : subject),
    ...asPlainLines([showText(reason)]),
    ...(kind === 'page' ? subject : fields),
    ...asPlainLines([describeOrigin(question, change, isWatched)]),
  ];
}

/** Names the part that asks, the turn, and the time in which an answer counts. */
function describeOrigin(question: QuestionSummary, change: AskedChange | undefined, isWatched: boolean): string {
  const { eventId, askedBy, askedAt, expiresAt } = question;
  const time = (iso: string) => showTime(iso, { isWatched });
  return [
    ...(change === undefined ? [] : [`changeset ${showText(change.changesetId)}`]),
    ...(askedBy?.server === undefined ? [] : [`server ${showText(askedBy.server)}`]),
    ...(askedBy?.extension === undefined ? [] : [`extension ${showText(askedBy.extension)}`]),
    `turn ${showText(shortIdOfEvent(eventId))}`,
    `asked ${time(askedAt)}`,
    `expires ${time(expiresAt)}`,
  ].join(', ');
}

/** Returns the arguments of a tool call, or the page with its host. */
function subjectOf(question: QuestionSummary): readonly string[] {
  const { kind, url = '' } = question;
  if (kind !== 'page') return [showArguments(question)];
  return [`A page of ${showText(hostOf(url))}, which opens only if you open it:`, showText(url)];
}

/** Returns the host as the browser uses it: letters of other scripts are written in ASCII, so that none looks like another. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'an unknown host';
}

function fieldsOf({ schema }: QuestionSummary): readonly string[] {
  const fields = readForm(schema);
  return 'problem' in fields ? [showText(fields.problem)] : fields.flatMap((field) => describeField(field));
}

function changeLines({ files }: AskedChange): readonly DiffLine[] {
  const { lines, left } = summarizeDiffs(files);
  if (left === 0) return lines;
  // The changeset on disk may have other edits by now, so only the question itself has the asked ones.
  const where = 'see all of them with `gdn approve --json`';
  return [...lines, ...asPlainLines([`… and ${left} ${left === 1 ? 'line' : 'lines'} more: ${where}`])];
}

/** Shows arguments in one line. */
export function showArguments({ args = {} }: { readonly args?: JsonObject }): string {
  const text = showText(JSON.stringify(args));
  if (text.length <= MOST_SHOWN) return text;
  return `${text.slice(0, MOST_SHOWN)}… and ${text.length - MOST_SHOWN} characters more: see them with \`gdn approve --json\``;
}
