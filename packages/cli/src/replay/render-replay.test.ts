import { expect, test } from 'bun:test';
import type { ReplayReport } from '@goondan/runtime/history';
import { createColors } from '../colors.ts';
import { renderReplay } from './render-replay.ts';

const report = (layers: number): ReplayReport => ({
  turn: {
    ...{ turnId: 'turn-a', agentName: 'host', instanceKey: 'default', startedAt: '2026-01-02T03:04:05.678Z' },
    ...{ traceId: 'trace', spanId: 'span', source: { kind: 'cli', name: 'gdn' }, resumes: 0 },
  },
  steps: 1,
  served: { model: 1, tool: 0, agent: 0, approval: 0 },
  layers,
  others: 0,
});

test.each([
  [0, 'the agent behaved as recorded. There were no layers of extensions to compare.'],
  [1, '1 layer behaved as recorded.'],
])('a turn with %i layers that did not diverge is described in words', (layers, expected) => {
  const text = renderReplay(report(layers), { colors: createColors(false), isWatched: false }, {});
  expect(text.split('\n').at(-2)).toBe(`No divergence: ${expected}`);
});
