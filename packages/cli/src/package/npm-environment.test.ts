import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmEnvironment } from './npm-environment.ts';

const HOME = mkdtempSync(join(tmpdir(), 'npm-environment-'));
afterAll(() => rmSync(HOME, { recursive: true, force: true }));
writeFileSync(join(HOME, '.npmrc'), '//registry.acme/:_authToken=${ACME_TOKEN}\nca=${ACME_CA?}\n');
writeFileSync(join(HOME, 'other'), 'proxy=${ACME_PROXY}\n');

const own = { HOME, ACME_TOKEN: 'token', ACME_CA: 'ca', ACME_PROXY: 'proxy', OPENAI_API_KEY: 'key', TERM: 'dumb' };

test('T-08 npm gets the variables of the operator’s own .npmrc, and no other secret', () => {
  const { ACME_TOKEN, ACME_CA, ACME_PROXY, OPENAI_API_KEY, TERM } = npmEnvironment(own);
  expect({ ACME_TOKEN, ACME_CA, TERM }).toEqual({ ACME_TOKEN: 'token', ACME_CA: 'ca', TERM: 'dumb' });
  expect([ACME_PROXY, OPENAI_API_KEY]).toEqual([undefined, undefined]);
});

test.each(['npm_config_userconfig', 'NPM_CONFIG_USERCONFIG'])('T-08 the file that %s names is used instead', (name) => {
  const given = npmEnvironment({ ...own, [name]: join(HOME, 'other') });
  expect(given).toMatchObject({ ACME_PROXY: 'proxy', [name]: join(HOME, 'other') });
  expect(given).not.toHaveProperty('ACME_TOKEN');
});
