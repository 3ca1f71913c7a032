// Shows every change of the public API: a snapshot has the declarations of each public entry point ("door"). Update it
// with `npm test -- test/api-report.process.test.ts -u`. One run of the compiler reads the doors for all tests.
import { beforeAll, expect, test } from 'bun:test';
import { type Door, readApi } from '../scripts/read-api.ts';

const doors = [
  '@goondan/types',
  '@goondan/types/http',
  '@goondan/runtime',
  '@goondan/runtime/bundle',
  '@goondan/runtime/control',
  '@goondan/runtime/history',
  '@goondan/runtime/internal',
  '@goondan/runtime/testing',
];

let api: ReadonlyMap<string, Door>;
beforeAll(async () => {
  api = await readApi();
  // This timeout is long, because the compiler reads all sources.
}, 120_000);

test.each(doors)('%s has the declarations of the snapshot', (door) => {
  expect(api.get(door)?.text).toMatchSnapshot();
});

test('the first door has at most 30 names', () => {
  const names = api.get('@goondan/runtime')?.names ?? [];
  expect(names).toContain('startSwarm');
  expect(names.length).toBeLessThanOrEqual(30);
});

test('a name has one door', () => {
  expect([...api.keys()].toSorted()).toEqual(doors.toSorted());
  const names = [...api.values()].flatMap((door) => door.names);
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
});
