import type { QuestionSummary } from '@goondan/runtime';
import { shortIdOfEvent } from '@goondan/runtime/internal';
import { type DiffLine, paintDiffLine, summarizeDiffs } from '../show-diff.ts';
import { showTime } from '../show-time.ts';
import type { Colors } from '../colors.ts';
import { type AskedChange, readChange } from './read-change.ts';
import { showText } from './show-text.ts';

/**
 * The maximum number of characters of the arguments that are shown. If there are more, the text says how many. `gdn
 * approve --json` prints all of them.
 */
const MOST_SHOWN = 4_000;

/** Describes a waiting tool call, change of a bundle or question about a budget, for the person who decides. */
export function describeQuestion(question: QuestionSummary, colors: Colors, isWatched: boolean): string {
  const lines = questionLines(question, isWatched).map((line) => `    ${paintDiffLine(line, colors)}`);
  return [questionHead(question, colors), ...lines, ''].join('\n');
}

/** Returns the first line of the description: id, agent, and the tool or the words for a change. */
export function questionHead({ id, agent, instanceKey, kind, toolName }: QuestionSummary, colors: Colors): string {
  const subjects = { change: 'a change of its bundle', budget: 'more of a budget', form: 'a form', page: 'a page' };
  const subject = kind === 'call' ? showText(toolName) : subjects[kind];
  return `${colors.bold(id)}  ${showText(agent)} (${showText(instanceKey)})  ${colors.bold(subject)}`;
}

/** Returns the other lines of the description. */
export function questionLines(question: QuestionSummary, isWatched: boolean): readonly DiffLine[] {
  const { eventId, reason, askedAt, expiresAt } = question;
  const time = (iso: string) => showTime(iso, { isWatched });
  const change = readChange(question);
  return [
    ...(change === undefined ? subjectLines(question) : changeLines(change)),
    plain(showText(reason)),
    plain(
      `${change === undefined ? '' : `changeset ${showText(change.changesetId)}, `}turn ${showText(shortIdOfEvent(eventId))}, asked ${time(askedAt)}, expires ${time(expiresAt)}`,
    ),
  ];
}

/** Returns the arguments of a tool call. The reason says everything about a budget. */
function subjectLines(question: QuestionSummary): DiffLine[] {
  if (question.url !== undefined) return [plain(showText(question.url))];
  return question.kind === 'budget' || question.kind === 'form' ? [] : [plain(showArguments(question))];
}

function changeLines({ files }: AskedChange): DiffLine[] {
  const { lines, left } = summarizeDiffs(files);
  if (left === 0) return [...lines];
  // The changeset on disk may have other edits by now, so only the question itself has the asked ones.
  const where = 'see all of them with `gdn approve --json`';
  return [...lines, plain(`… and ${left} ${left === 1 ? 'line' : 'lines'} more: ${where}`)];
}

function showArguments({ args }: QuestionSummary): string {
  const text = showText(JSON.stringify(args));
  if (text.length <= MOST_SHOWN) return text;
  return `${text.slice(0, MOST_SHOWN)}… and ${text.length - MOST_SHOWN} characters more: see them with \`gdn approve --json\``;
}

function plain(text: string): DiffLine {
  return { text, tone: 'plain' };
}
