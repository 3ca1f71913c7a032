import type { ApprovalSummary } from '@goondan/runtime';
import { shortIdOfEvent } from '@goondan/runtime/internal';
import type { JsonObject } from '@goondan/types';
import type { Colors } from '../terminal.ts';
import { showTime } from '../show-time.ts';
import { showDiff } from './show-diff.ts';
import { showText } from './show-text.ts';

/**
 * The maximum number of characters of the arguments that are shown. If there are more, the text says how many. `gdn
 * approve --json` prints all of them.
 */
const MOST_SHOWN = 4_000;
/** The same for the diff of a changeset. */
const MOST_OF_DIFF = 40_000;

/** Describes one waiting tool call, or one changeset with its diff, for the person who decides. */
export function describeApproval(approval: ApprovalSummary, colors: Colors, isWatched: boolean): string {
  const time = (iso: string) => showTime(iso, { isWatched });
  const { id, agent, instanceKey, eventId, toolName, reason, askedAt, expiresAt } = approval;
  return [
    `${colors.bold(id)}  ${showText(agent)} (${showText(instanceKey)})  ${colors.bold(showText(toolName))}`,
    ...showArguments(approval, colors).map((line) => `    ${line}`),
    `    ${showText(reason)}`,
    `    turn ${showText(shortIdOfEvent(eventId))}, asked ${time(askedAt)}, expires ${time(expiresAt)}`,
    '',
  ].join('\n');
}

function showArguments({ kind, args }: ApprovalSummary, colors: Colors): string[] {
  const diff = kind === 'change' ? diffIn(args) : undefined;
  if (diff === undefined) return [cutAt(MOST_SHOWN, showText(JSON.stringify(args)))];
  const [shown, rest] = [diff.slice(0, MOST_OF_DIFF), diff.slice(MOST_OF_DIFF)];
  const lines = showDiff(shown, colors).trimEnd().split('\n');
  return rest === '' ? lines : [...lines, hidden(rest.length)];
}

/** Returns the differences of all files, or `undefined` if the arguments are not those of a changeset. */
function diffIn({ files }: JsonObject): string | undefined {
  if (!Array.isArray(files) || files.length === 0) return undefined;
  const diffs = files.map((file): unknown => Reflect.get(Object(file), 'diff'));
  return diffs.every((diff) => typeof diff === 'string') ? diffs.join('') : undefined;
}

function cutAt(most: number, text: string): string {
  return text.length <= most ? text : `${text.slice(0, most)}${hidden(text.length - most)}`;
}

function hidden(characters: number): string {
  return `… and ${characters} characters more: see them with \`gdn approve --json\``;
}
