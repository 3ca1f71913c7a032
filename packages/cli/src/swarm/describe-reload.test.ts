import { expect, test } from 'bun:test';
import type { ReloadResult } from '@goondan/runtime/control';
import { describeReload } from './describe-reload.ts';

const result: ReloadResult = { kept: ['Swarm/s'], changed: ['Agent/host'], added: [], removed: [], agents: [] };
const host = { agent: 'host', parts: [], finishing: [] };

test('L-01 a reload is described part by part, with the conversations that still finish a step', () => {
  const parts = [
    { identity: 'Extension/guard', fate: 'retained' },
    { identity: 'Tool/clock', fate: 'added' },
    { identity: 'Tool/old', fate: 'removed' },
  ] as const;
  expect(describeReload({ ...result, agents: [{ ...host, parts, finishing: ['a', 'b'] }] })).toBe(
    [
      'Reloaded: changed Agent/host; 1 kept.',
      'Agent/host',
      '  retained  Extension/guard',
      '  added     Tool/clock',
      '  removed   Tool/old',
      '  Takes the change after its running step: "a", "b".',
      '',
    ].join('\n'),
  );
});

test('a replaced process has its reason, and takes the change after its turn', () => {
  const replaced = { ...host, replaced: 'its environment has changed', finishing: ['a'] };
  expect(describeReload({ ...result, agents: [replaced] })).toEndWith(
    'Agent/host\n  Its processes are replaced between turns: its environment has changed.\n' +
      '  Takes the change after its running turn: "a".\n',
  );
  const renewed = { ...host, renewed: ['a'], finishing: ['a', 'b'] };
  expect(describeReload({ ...result, agents: [renewed] })).toEndWith(
    '  Replaced between turns, because the process was changed often: "a".\n' +
      '  Takes the change after its running step: "b".\n  Takes the change after its running turn: "a".\n',
  );
});

test('L-02 a kept connection that ends is named', () => {
  expect(describeReload({ ...result, agents: [{ ...host, ended: ['counter', 'browser'] }] })).toEndWith(
    'Agent/host\n  Kept connection ends, with its server: counter, browser.\n',
  );
});

test('many conversations are counted', () => {
  const finishing = Array.from({ length: 12 }, (_, index) => String(index));
  expect(describeReload({ ...result, agents: [{ ...host, finishing }] })).toContain('"9" and 2 more.');
});
