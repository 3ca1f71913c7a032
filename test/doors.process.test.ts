// Checks the public entry points ("doors") of the runtime. The first door exports few names, and each name is exported
// by only one door.
import { beforeAll, expect, test } from 'bun:test';
import { type DoorExport, readDoors } from '../scripts/read-doors.ts';
import { repository } from './read-repository.ts';

let doors: ReadonlyMap<string, readonly DoorExport[]>;
beforeAll(async () => {
  doors = await readDoors(repository);
});

test('the first door has at most 30 names', () => {
  const names = (doors.get('@goondan/runtime') ?? []).map(({ name }) => name);
  expect(names).toContain('startSwarm');
  expect(names.length).toBeLessThanOrEqual(30);
});

test('a name has one door', () => {
  const own = [...doors].filter(([door]) => /^@goondan\/(runtime|types)\b/.test(door));
  expect(own.map(([door]) => door)).toEqual([
    '@goondan/runtime',
    '@goondan/runtime/bundle',
    '@goondan/runtime/control',
    '@goondan/runtime/history',
    '@goondan/runtime/internal',
    '@goondan/runtime/testing',
    '@goondan/types',
    '@goondan/types/http',
  ]);
  const names = own.flatMap(([, exported]) => exported.map(({ name }) => name));
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
});
