import { describe, expect, test } from 'bun:test';
import { checkAnswers, checkEffects, checkHistory } from './check-root.ts';
import type { Effect } from './place.ts';
import { compareShown, historyCommand } from './read-root.ts';

const address = { agent: 'worker', instanceKey: 'one' };
const command = historyCommand(address).join(' ');
const turn = (id: string, finishReason = 'text_response') => ({ turnId: `turn-${id}`, result: { finishReason } });
const shown = (...turns: readonly object[]) => new Map([[command, JSON.stringify({ turns })]]);
const effect = (tool: string, moment: Effect['moment']): Effect => ({ turn: 't', call: 'c', tool, job: 'j', moment });

describe('the migration torture reports', () => {
  test('output that is different, missing or new', () => {
    const before = new Map([...shown(turn('a')), ['blame', 'one']]);
    expect(compareShown(before, before)).toEqual([]);
    expect(compareShown(before, new Map([...shown(turn('a')), ['blame', 'other']]))[0]).toContain('gdn blame');
    expect(compareShown(before, shown(turn('a')))).toHaveLength(1);
    expect(compareShown(shown(turn('a')), before)).toHaveLength(1);
  });

  test('earlier turns that changed or are gone, and not later ones', () => {
    expect(checkHistory(shown(turn('a')), shown(turn('a'), turn('b')))).toEqual([]);
    expect(checkHistory(shown(turn('a')), shown(turn('b'), turn('a')))).toHaveLength(1);
    expect(checkHistory(shown(turn('a')), new Map())).toHaveLength(1);
  });

  test('an input without a turn, with two turns or with a failed turn', () => {
    const inputs = [{ ...address, id: 'a' }];
    expect(checkAnswers(inputs, shown(turn('a'), turn('b')))).toEqual([]);
    for (const turns of [[], [turn('b')], [turn('a'), turn('a')], [turn('a', 'error')]])
      expect(checkAnswers(inputs, shown(...turns))).toHaveLength(1);
  });

  test('an effect that happened twice, and another number of purchases', () => {
    const [begun, ended] = [effect('first', 'begun'), effect('first', 'ended')];
    expect(checkEffects([begun, ended], 0)).toEqual([]);
    expect(checkEffects([begun, begun, ended], 0)).toHaveLength(1);
    const again = [effect('again', 'begun'), effect('again', 'begun'), effect('again', 'ended')];
    expect(checkEffects(again, 0)).toEqual([]);
    expect(checkEffects([...again, effect('again', 'ended')], 0)).toHaveLength(1);
    expect(checkEffects([effect('buy', 'ended')], 1)).toEqual([]);
    expect(checkEffects([], 1)).toHaveLength(1);
  });
});
