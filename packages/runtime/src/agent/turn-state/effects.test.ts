import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import type { EffectOutcome } from '../../trace/resume-point.ts';
import type { TurnRecord } from '../conversation/conversation-store.ts';
import { TurnLogWriter } from '../conversation/turn-log.ts';
import { Effects } from './effects.ts';

function open(before: { effects?: [string, EffectOutcome][]; intents?: string[] } = {}) {
  const records: TurnRecord[] = [];
  const writer = new TurnLogWriter(0, async (_at, batch) => void records.push(...batch));
  const effects = new Effects({ effects: new Map(before.effects), intents: new Set(before.intents) }, writer);
  return { effects, records, writer };
}

describe('Effects', () => {
  test('keys count within their scope and kind, the same way in every run', () => {
    const keys = () => {
      const { effects } = open();
      return [
        effects.nextKey('pre/a', 'model'),
        effects.nextKey('pre/a', 'model'),
        effects.nextKey('pre/a', 'agent'),
        effects.nextKey('pre/b', 'model'),
        effects.nextKey('pre/a', 'model'),
      ];
    };
    expect(keys()).toEqual(['pre/a/model/0', 'pre/a/model/1', 'pre/a/agent/0', 'pre/b/model/0', 'pre/a/model/2']);
    expect(keys()).toEqual(keys());
  });

  test('an effect is done, interrupted or not started', () => {
    const { effects } = open({ effects: [['done', { ok: true, value: 7 }]], intents: ['done', 'open'] });
    expect([effects.recorded('done'), effects.recorded('open')]).toEqual([7, undefined]);
    const of = (key: string) => [effects.wasBegun(key), effects.isInterrupted(key)];
    expect([of('done'), of('open'), of('new')]).toEqual([
      [true, false],
      [true, true],
      [false, false],
    ]);
  });

  test('intent and outcome are recorded in order', async () => {
    const { effects, records, writer } = open();
    effects.intend('a', 'tool');
    effects.record('a', 'tool', { ok: true, value: { n: 1 } });
    await writer.flush();
    expect(records).toEqual([
      { type: 'intent', key: 'a', kind: 'tool' },
      { type: 'effect', key: 'a', kind: 'tool', outcome: { ok: true, value: { n: 1 } } },
    ]);
  });

  test('a record is not changed when the value is changed before or after', async () => {
    const { effects, records, writer } = open();
    const value = { n: 1 };
    effects.record('a', 'tool', { ok: true, value });
    value.n = 2;
    await writer.flush();
    expect(records).toMatchObject([{ outcome: { value: { n: 1 } } }]);

    const resumed = open({ effects: [['a', { ok: true, value: { n: 1 } }]] }).effects;
    Object.assign(resumed.recorded('a') ?? {}, { n: 'changed' });
    expect(resumed.recorded('a')).toEqual({ n: 1 });
  });

  test('a recorded error is thrown again', () => {
    const thrown = (code: string) => {
      try {
        return open({ effects: [['a', { ok: false, error: { code, message: 'no' } }]] }).effects.recorded('a');
      } catch (error) {
        return error instanceof GoondanError ? [error.code, error.message] : error;
      }
    };
    expect(thrown('E_AGENT_TIMEOUT')).toEqual(['E_AGENT_TIMEOUT', 'no']);
    expect(thrown('E_OF_A_LATER_VERSION')).toEqual(['E_AGENT_FAILED', 'no']);
    expect(thrown('toString')).toEqual(['E_AGENT_FAILED', 'no']);
  });
});
