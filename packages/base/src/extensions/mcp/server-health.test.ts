import { expect, test } from 'bun:test';
import type { ExtensionStatus, ExtensionStatusChanged } from '@goondan/types';
import { ExtensionStatuses } from '../../../../runtime/src/agent/extension/extension-statuses.ts';
import { maskSecrets } from '../../../../runtime/src/log/mask-secrets.ts';
import { ServerHealth } from './server-health.ts';

test('a secret at the cut of a line is masked as a whole', () => {
  const secret = 'tok-0123456789-abcdefghij';
  const told: ExtensionStatusChanged[] = [];
  const statuses = new ExtensionStatuses({
    address: { agentName: 'host', instanceKey: 'default' },
    mask: maskSecrets([secret]),
    now: () => new Date(),
    isTool: () => true,
    currentTurn: () => undefined,
    tell: (changed) => void told.push(changed),
    refuse: () => undefined,
  });
  const health = new ServerHealth((status) => statuses.told('files', status));
  for (let before = 470; before <= 500; before++) {
    health.failed('It ended.', { exit: '', lines: [`${'x'.repeat(before)}${secret} is wrong`] });
  }
  expect(told).toHaveLength(31);
  expect(JSON.stringify(told)).not.toContain('tok-');
});

test('repeated losses of a server are counted, and each change is reported once', () => {
  const told: ExtensionStatus[] = [];
  const health = new ServerHealth((status) => told.push(status));
  health.connecting();
  for (const exit of ['first', 'second']) {
    health.connected();
    health.connected();
    health.lost('It ended.', { exit, lines: [] }, true);
    health.connecting();
  }
  expect(told.map(({ state, lost = 0 }) => `${state} ${lost}`)).toEqual([
    'connecting 0',
    'connected 0',
    'reconnecting 1',
    'connected 1',
    'reconnecting 2',
  ]);
  expect(told.at(-1)?.problem).toBe('It ended. second');
});
