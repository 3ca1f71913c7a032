import { expect, test } from 'bun:test';
import { relative } from 'node:path';
import { renderApiReports } from '../scripts/write-api-report.ts';
import { repository } from './read-repository.ts';

test('the API reports match the exports of the doors; otherwise run `npm run api:report`', async () => {
  const reports = await renderApiReports();
  expect([...reports.keys()].map((path) => relative(repository, path))).toEqual([
    'packages/types/api.md',
    'packages/runtime/api.md',
  ]);
  for (const [path, text] of reports) expect(await Bun.file(path).text()).toBe(text);
  // This timeout is long, because the compiler reads all sources.
}, 120_000);

test('the reports have functions with their results, and only names of the internal door', async () => {
  const page = await Bun.file(`${repository}/packages/runtime/api.md`).text();
  expect(page).toContain('export declare function startSwarm(options: StartSwarmOptions): Promise<Swarm>;');
  const [, internal = ''] = page.split('## @goondan/runtime/internal\n');
  expect(internal.split('\n## ')[0]).toContain('\n- `systemClock`\n');
  expect(internal.split('\n## ')[0]).not.toContain('```');
});
