import { afterEach, expect, test } from 'bun:test';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser } from './open-browser.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { until } from '../../../../test/until.ts';

const folder = temporaryFolder();
const opener = join(folder, 'opener');
const opened = join(folder, 'opened');
writeFileSync(opener, `#!/bin/sh\nprintf %s "$1" > '${opened}.new' && mv '${opened}.new' '${opened}'\n`);
chmodSync(opener, 0o755);
afterEach(() => rmSync(opened, { force: true }));

const asked: string[] = [];
const which = (program: string) => {
  asked.push(program);
  return opener;
};

test('a browser is started when there is a display, with the address unchanged', async () => {
  const url = 'http://127.0.0.1:1/?token=a&b=$(c)';
  const desks = [
    { platform: 'linux', env: { DISPLAY: ':0' } },
    { platform: 'linux', env: { WAYLAND_DISPLAY: 'wayland-0' } },
    { platform: 'darwin', env: {} },
  ] as const;
  for (const desk of desks) {
    openBrowser(url, desk, which);
    await until(() => existsSync(opened), { about: 'the browser has started' });
    expect(readFileSync(opened, 'utf8')).toBe(url);
    rmSync(opened);
  }
  expect(asked).toEqual(['xdg-open', 'xdg-open', 'open']);
});

test('without a display or a working opener, nothing happens', () => {
  const before = asked.length;
  openBrowser('x', { platform: 'linux', env: { DISPLAY: '' } }, which);
  expect(asked).toHaveLength(before);
  openBrowser('x', { platform: 'linux', env: { DISPLAY: ':0' } }, () => null);
  openBrowser('x', { platform: 'linux', env: { DISPLAY: ':0' } }, () => join(folder, 'nothing'));
  expect(existsSync(opened)).toBe(false);
});
