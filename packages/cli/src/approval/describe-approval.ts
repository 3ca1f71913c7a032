import type { ApprovalSummary } from '@goondan/runtime';
import { shortIdOfEvent } from '@goondan/runtime/internal';
import type { Colors } from '../terminal.ts';
import { showTime } from '../show-time.ts';
import { showText } from './show-text.ts';

/**
 * The maximum number of characters of the arguments that are shown. If there are more, the text says how many. `gdn
 * approve --json` prints all of them.
 */
const MOST_SHOWN = 4_000;

/** Describes one waiting tool call for the person who decides. */
export function describeApproval(approval: ApprovalSummary, colors: Colors, isWatched: boolean): string {
  const time = (iso: string) => showTime(iso, { isWatched });
  const { id, agent, instanceKey, eventId, toolName, reason, askedAt, expiresAt } = approval;
  return [
    `${colors.bold(id)}  ${showText(agent)} (${showText(instanceKey)})  ${colors.bold(showText(toolName))}`,
    `    ${showArguments(approval)}`,
    `    ${showText(reason)}`,
    `    turn ${showText(shortIdOfEvent(eventId))}, asked ${time(askedAt)}, expires ${time(expiresAt)}`,
    '',
  ].join('\n');
}

function showArguments({ args }: ApprovalSummary): string {
  const text = showText(JSON.stringify(args));
  if (text.length <= MOST_SHOWN) return text;
  return `${text.slice(0, MOST_SHOWN)}… and ${text.length - MOST_SHOWN} characters more: see them with \`gdn approve --json\``;
}
