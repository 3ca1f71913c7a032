/** Checks a state root after a swarm has gone on with it. Each check returns a description of everything that is wrong. */
import type { Effect } from './place.ts';
import { historyCommand, type Shown } from './read-root.ts';
import type { Input } from './write-root.ts';

/** Tools whose interrupted calls are repeated. */
const REPEATABLE = new Set(['again', 'crash']);

/** The parts of the history that are compared. */
interface History {
  readonly turns: readonly { readonly turnId: string; readonly result: { readonly finishReason?: string } }[];
}

/** The turns of before must be the first turns of now. */
export function checkHistory(before: Shown, after: Shown): string[] {
  return [...before].flatMap(([command, text]) => {
    if (!command.startsWith('history ')) return [];
    const { turns } = JSON.parse(text) as History;
    const now = (JSON.parse(after.get(command) ?? '{"turns":[]}') as History).turns.slice(0, turns.length);
    return JSON.stringify(turns) === JSON.stringify(now) ? [] : `gdn ${command} has other turns`;
  });
}

/** Each input must have exactly one turn, which did not fail. */
export function checkAnswers(inputs: readonly Pick<Input, 'agent' | 'instanceKey' | 'id'>[], after: Shown): string[] {
  return inputs.flatMap(({ agent, instanceKey, id }) => {
    const text = after.get(historyCommand({ agent, instanceKey }).join(' ')) ?? '{"turns":[]}';
    const own = (JSON.parse(text) as History).turns.filter(({ turnId }) => turnId === `turn-${id}`);
    const isAnswered = own.length === 1 && own[0]?.result.finishReason === 'text_response';
    return isAnswered ? [] : `${id} has these turns: ${JSON.stringify(own)}`;
  });
}

/** `wanted`: the number of approved purchases. No effect may begin twice. A call that may be repeated may not begin again after it has ended. */
export function checkEffects(effects: readonly Effect[], wanted: number): string[] {
  const calls = Map.groupBy(effects, ({ turn, call, tool }) => `${tool} of ${turn}, ${call}`);
  const twice = [...calls].flatMap(([name, own]) => {
    const count = own.filter(({ moment, tool }) => moment === (REPEATABLE.has(tool) ? 'ended' : 'begun')).length;
    return count > 1 ? `${name} happened ${count} times` : [];
  });
  const bought = effects.filter(({ tool, moment }) => tool === 'buy' && moment === 'ended').length;
  return bought === wanted ? twice : [...twice, `${bought} purchases instead of ${wanted}`];
}
