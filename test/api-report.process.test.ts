// Checks the reports of the public entry points ("doors"), and the doors themselves: the first one exports few names, and
// each name is exported by only one door. One run of the compiler reads them for all tests.
import { beforeAll, expect, test } from 'bun:test';
import { relative } from 'node:path';
import { type ApiReports, renderApiReports } from '../scripts/write-api-report.ts';
import { repository } from './read-repository.ts';

let reports: ApiReports;
beforeAll(async () => {
  reports = await renderApiReports();
  // This timeout is long, because the compiler reads all sources.
}, 120_000);

test('the API reports match the exports of the doors; otherwise run `npm run api:report`', async () => {
  expect([...reports.pages.keys()].map((path) => relative(repository, path))).toEqual([
    'packages/types/api.md',
    'packages/runtime/api.md',
  ]);
  for (const [path, text] of reports.pages) expect(await Bun.file(path).text()).toBe(text);
});

test('the reports have functions with their results, and only names of the internal door', async () => {
  const page = await Bun.file(`${repository}/packages/runtime/api.md`).text();
  expect(page).toContain(
    'export declare function startAgent(plan: AgentPlan, deps?: AgentDeps): Promise<RunningAgent>;',
  );
  const [, internal = ''] = page.split('## @goondan/runtime/internal\n');
  expect(internal.split('\n## ')[0]).toContain('\n- `systemClock`\n');
  expect(internal.split('\n## ')[0]).not.toContain('```');
});

test('the first door has at most 30 names', () => {
  const names = reports.doors.get('@goondan/runtime') ?? [];
  expect(names).toContain('startSwarm');
  expect(names.length).toBeLessThanOrEqual(30);
});

test('a name has one door', () => {
  expect([...reports.doors.keys()].toSorted()).toEqual([
    '@goondan/runtime',
    '@goondan/runtime/bundle',
    '@goondan/runtime/control',
    '@goondan/runtime/history',
    '@goondan/runtime/internal',
    '@goondan/runtime/testing',
    '@goondan/types',
    '@goondan/types/http',
  ]);
  const names = [...reports.doors.values()].flat();
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
});
