import { expect, test } from 'bun:test';
import type { LoadedResource } from '../bundle.ts';
import { listSettings } from './list-settings.ts';

test.each<[string, string, object, object]>([
  ['a connection', 'Connection', { config: { rules: './rules' } }, { text: './rules', isCommand: false }],
  ['a hook', 'Agent', { hooks: [{ action: { command: ['./rules'] } }] }, { text: './rules', isCommand: true }],
])('L-05 the settings of %s protect the folders that they name', (_title, kind, spec, setting) => {
  // Safe: only these fields are read.
  const resource = { identity: `${kind}/x`, kind, name: 'x', resource: { spec } } as unknown as LoadedResource;
  expect(listSettings([resource], '/bundle')).toEqual([
    { identity: `${kind}/x`, folders: ['rules'], ...setting } as never,
  ]);
});
