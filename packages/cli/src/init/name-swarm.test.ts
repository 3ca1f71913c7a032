import { expect, test } from 'bun:test';
import { nameSwarm } from './name-swarm.ts';

test.each([
  ['/a/news', 'news'],
  ['/a/My News', 'my-news'],
  ['/a/Crème_2.0!', 'creme-2-0'],
  ['/a/2026', 'swarm-2026'],
  ['/a/.hidden', 'hidden'],
  ['/a/뉴스', 'swarm'],
  ['/', 'swarm'],
  [`/${'x'.repeat(62)} y`, 'x'.repeat(62)],
])('%s: %s', (folder, name) => {
  expect(nameSwarm(folder)).toBe(name);
});
