/** Describes a reload for people: the changed agents and connections, then the parts of each changed agent. */
import { describeChanges } from '@goondan/runtime/bundle';
import type { AgentChange, ReloadResult } from '@goondan/runtime/control';

/** Returns text that ends with a line break. */
export function describeReload(result: ReloadResult): string {
  return [describeChanges(result), ...result.agents.flatMap(describeAgent)].map((line) => `${line}\n`).join('');
}

function describeAgent({ agent, parts, replaced, renewed = [], ended = [], finishing }: AgentChange): string[] {
  const lines = [`Agent/${agent}`, ...parts.map(({ identity, fate }) => `  ${fate.padEnd(WIDEST_FATE)}  ${identity}`)];
  if (ended.length > 0) lines.push(`  Kept connection ends, with its server: ${ended.join(', ')}.`);
  if (replaced !== undefined) lines.push(`  Its processes are replaced between turns: ${replaced}.`);
  if (renewed.length > 0)
    lines.push(`  Replaced between turns, because the process was changed often: ${listKeys(renewed)}.`);
  const renewedKeys = new Set(replaced === undefined ? renewed : finishing);
  const [inTurn, inStep] = [
    finishing.filter((key) => renewedKeys.has(key)),
    finishing.filter((key) => !renewedKeys.has(key)),
  ];
  if (inStep.length > 0) lines.push(`  Takes the change after its running step: ${listKeys(inStep)}.`);
  if (inTurn.length > 0) lines.push(`  Takes the change after its running turn: ${listKeys(inTurn)}.`);
  return lines;
}

const WIDEST_FATE = 'retained'.length;

const MOST_KEYS = 10;

function listKeys(keys: readonly string[]): string {
  const listed = keys
    .slice(0, MOST_KEYS)
    .map((key) => JSON.stringify(key))
    .join(', ');
  return keys.length > MOST_KEYS ? `${listed} and ${keys.length - MOST_KEYS} more` : listed;
}
