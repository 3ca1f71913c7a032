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
    'Agent/host\n  Its processes are replaced between turns: its environment has changed. The memory of all its parts begins anew.\n' +
      '  Takes the change after its running turn: "a".\n',
  );
  const renewed = { ...host, renewed: ['a'], finishing: ['a', 'b'] };
  expect(describeReload({ ...result, agents: [renewed] })).toEndWith(
    '  Replaced between turns, because the process was changed often: "a". There the memory of all parts begins anew.\n' +
      '  Takes the change after its running step: "b".\n  Takes the change after its running turn: "a".\n',
  );
});

test('L-02 a kept connection that ends is named', () => {
  expect(describeReload({ ...result, agents: [{ ...host, ended: ['counter', 'browser'] }] })).toEndWith(
    'Agent/host\n  Kept connection ends, with its server: counter, browser.\n',
  );
});

test('a part that did not change is not called retained if the process is replaced', () => {
  const parts = [{ identity: 'Extension/guard', fate: 'retained' }] as const;
  const text = describeReload({ ...result, agents: [{ ...host, parts, replaced: 'its environment has changed' }] });
  expect(text).toContain('\n  unchanged  Extension/guard\n');
  expect(text).not.toContain('retained');
});

test('a process that already ends after its turn takes the change with the next process', () => {
  const leaving = { ...host, leaving: ['a'], finishing: ['a'] };
  expect(describeReload({ ...result, agents: [leaving] })).toEndWith(
    'Agent/host\n  Its process already ends after the running turn: "a".\n' +
      '  Takes the change after its running turn: "a".\n',
  );
});

test('another order, changed fields of the swarm, a removed agent and conversations that may start are named', () => {
  const agents = [
    { ...host, reordered: true },
    { ...host, agent: 'gone', removed: true, finishing: ['a'] },
  ];
  const retried = [{ agent: 'other', instanceKey: 'default' }];
  expect(describeReload({ ...result, agents, fields: ['entryAgent', 'policy.maxKept'], retried })).toBe(
    [
      'Reloaded: changed Agent/host; 1 kept.',
      'Agent/host',
      '  The order of its parts has changed.',
      'Agent/gone',
      '  Ends after its running turn: "a".',
      'Changed fields of the swarm: entryAgent, policy.maxKept.',
      'Did not start before, and may try again: other (default).',
      '',
    ].join('\n'),
  );
});

test('many conversations are counted', () => {
  const finishing = Array.from({ length: 12 }, (_, index) => String(index));
  expect(describeReload({ ...result, agents: [{ ...host, finishing }] })).toContain('"9" and 2 more.');
});
