import type { GrantSummary } from '@goondan/runtime/control';
import type { Colors } from '../colors.ts';
import { showTime } from '../show-time.ts';
import { showArguments } from './describe-question.ts';
import { showText } from './show-text.ts';
import { describeAlways } from './wording.ts';

/** Describes something that is always allowed: the calls, the conversation, and the person who allowed it. */
export function describeGrant(grant: GrantSummary, colors: Colors, isWatched: boolean): string {
  const { id, agent, instanceKey, toolName, always, args, host, by, via, decidedAt } = grant;
  return [
    `${colors.bold(id)}  ${showText(agent)} (${showText(instanceKey)}): ${showText(describeAlways(always, toolName, host))}`,
    ...(args === undefined ? [] : [`    ${showArguments(grant)}`]),
    `    allowed by ${showText(nameDoor(by, via))}, ${showTime(decidedAt, { isWatched })}`,
    '',
  ].join('\n');
}

/** Names a person and their door, as in `ann via chat`. */
function nameDoor(by = 'somebody', via?: string): string {
  return via === undefined ? by : `${by} via ${via}`;
}
