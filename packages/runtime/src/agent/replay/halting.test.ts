import { expect, test } from 'bun:test';
import type { EffectRecord } from '../../trace/effect-record.ts';
import type { Recording } from '../../trace/recording.ts';
import { Halting } from './halting.ts';

const chain = { inside: [] } as unknown as Recording['chain'];
const halt = { how: 'left', hasBegun: false, asked: [] } as unknown as NonNullable<Recording['halt']>;
const effect = (key: string, kind: EffectRecord['kind']): EffectRecord => ({ key, kind, asked: {} });

test('a halt is reached without the questions of a tool, and not without those of a layer', () => {
  const tool = effect('0/call/1', 'tool');
  const ofTool = effect('0/call/1/person/approval/0', 'approval');
  const ofLayer = { ...effect('0/call/1/approval/0', 'approval'), by: { extension: 'guard', name: 'ask', span: 's' } };
  const reached = (...effects: EffectRecord[]) => {
    const halting = new Halting({ chain, effects, halt });
    halting.asked(tool.key);
    return halting.isReached;
  };
  expect([reached(tool, ofTool), reached(tool, ofLayer)]).toEqual([true, false]);
});
