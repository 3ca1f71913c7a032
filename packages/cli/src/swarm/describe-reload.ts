/** Describes a reload for people: the changed agents and connections, then the parts of each changed agent. */
import { describeChanges } from '@goondan/runtime/bundle';
import type { AgentChange, ReloadResult } from '@goondan/runtime/control';

/** Returns text that ends with a line break. */
export function describeReload(result: ReloadResult): string {
  const { agents, fields = [], retried = [] } = result;
  const lines = [describeChanges(result), ...agents.flatMap(describeAgent)];
  if (fields.length > 0) lines.push(`Changed fields of the swarm: ${fields.join(', ')}.`);
  const conversations = retried.map(({ agent, instanceKey }) => `${agent} (${instanceKey})`);
  if (retried.length > 0) lines.push(`Did not start before, and may try again: ${listAtMost(conversations)}.`);
  return lines.map((line) => `${line}\n`).join('');
}

function describeAgent(change: AgentChange): string[] {
  const { agent, parts, reordered, replaced, renewed = [], leaving = [], ended = [], removed, finishing } = change;
  if (removed === true) return [`Agent/${agent}`, `  Ends after its running turn: ${listKeys(finishing)}.`];
  // A part that has not changed is loaded anew in another process, so its memory is not retained.
  const wordFor = (fate: (typeof parts)[number]['fate']) =>
    fate === 'retained' && replaced !== undefined ? 'unchanged' : fate;
  const width = Math.max(WIDEST_FATE, ...parts.map(({ fate }) => wordFor(fate).length));
  const lines = [
    `Agent/${agent}`,
    ...parts.map(({ identity, fate }) => `  ${wordFor(fate).padEnd(width)}  ${identity}`),
  ];
  if (ended.length > 0) lines.push(`  Kept connection ends, with its server: ${ended.join(', ')}.`);
  if (reordered === true) lines.push('  The order of its parts has changed.');
  if (replaced !== undefined)
    lines.push(`  Its processes are replaced between turns: ${replaced}. The memory of all its parts begins anew.`);
  if (renewed.length > 0)
    lines.push(
      `  Replaced between turns, because the process was changed often: ${listKeys(renewed)}. There the memory of all parts begins anew.`,
    );
  if (leaving.length > 0) lines.push(`  Its process already ends after the running turn: ${listKeys(leaving)}.`);
  const renewedKeys = new Set(replaced === undefined ? [...renewed, ...leaving] : finishing);
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
  return listAtMost(keys.map((key) => JSON.stringify(key)));
}

function listAtMost(texts: readonly string[]): string {
  const listed = texts.slice(0, MOST_KEYS).join(', ');
  return texts.length > MOST_KEYS ? `${listed} and ${texts.length - MOST_KEYS} more` : listed;
}
