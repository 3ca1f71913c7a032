import { describe, expect, test } from 'bun:test';
import { guard } from './guard.ts';

async function* saying(...lines: string[]) {
  yield* lines;
}

async function guardWith(...lines: string[]) {
  const calls: unknown[] = [];
  const report = await guard(saying(...lines), async (groups, quietMs) => {
    calls.push({ groups, quietMs });
    return { method: 'tag', ended: [{ pid: 7, command: 'sleep' }], left: [] };
  });
  return { report, calls };
}

describe('the guardian', () => {
  test('ends the run when the orchestrator is gone, and keeps looking for a while', async () => {
    const { report, calls } = await guardWith('watch 10', 'watch 11', 'forget 10');
    expect(report).toEqual({
      reason: 'orchestrator-gone',
      method: 'tag',
      ended: [{ pid: 7, command: 'sleep' }],
      left: [],
    });
    expect(calls).toEqual([{ groups: [11], quietMs: 300 }]);
  });

  test('looks once more when it is stood down, and ignores later lines', async () => {
    const { report, calls } = await guardWith('stand-down', 'watch 10');
    expect(report.reason).toBe('stood-down');
    expect(calls).toEqual([{ groups: [], quietMs: 30 }]);
  });

  test('ignores numbers that are not process groups', async () => {
    const lines = ['watch 0', 'watch 1', 'watch -5', 'watch x', 'watch', 'watch 1.5', 'watch 9e99', 'nonsense 12', ''];
    expect((await guardWith(...lines)).calls).toEqual([{ groups: [], quietMs: 300 }]);
  });
});
