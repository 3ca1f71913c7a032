import { expect, test } from 'bun:test';
import type { SwarmNotice } from '@goondan/runtime';
import { createColors } from '../colors.ts';
import { showLimitWaits } from './show-limit-waits.ts';
import { until } from '../../../../test/until.ts';

const notice = (name: string): SwarmNotice => ({
  type: 'runtime.event',
  at: { agent: 'clerk', instanceKey: 'default' },
  name,
  payload: { spanId: 'a', turnId: 'turn-e', limit: 'concurrent: 1 of Model/main' },
});

function open() {
  const printed: string[] = [];
  const terminal = {
    printError: (text: string) => void printed.push(text),
    errorColors: createColors(false),
  };
  return { printed, waits: showLimitWaits(terminal, () => void printed.push('|'), 5) };
}

test('Y-07 a long wait for a limit is shown once', async () => {
  const { printed, waits } = open();
  waits.hear(notice('limit.reached'));
  waits.hear(notice('limit.reached'));
  await until(() => printed.length > 1);
  // A second line would come in this time.
  await Bun.sleep(20);
  expect(printed).toEqual(['|', 'The turn waits for concurrent: 1 of Model/main …\n']);
  waits.hear(notice('limit.waited'));
  waits.hear(notice('limit.reached'));
  await until(() => printed.length > 3);
  expect(printed).toHaveLength(4);
});

test('a short wait is not shown', async () => {
  const short = open();
  short.waits.hear(notice('limit.reached'));
  short.waits.hear(notice('limit.waited'));
  const ended = open();
  ended.waits.hear(notice('limit.reached'));
  ended.waits.end();
  await Bun.sleep(20);
  expect([...short.printed, ...ended.printed]).toEqual([]);
});
