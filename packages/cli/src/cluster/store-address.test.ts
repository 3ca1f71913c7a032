import { describe, expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { readClusterAccess } from './cluster-access.ts';
import { needClusterToken, readClusterToken } from './cluster-token.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { placeOf, readStoreAddress, showAddress, storeAddressReader } from './store-address.ts';

const folder = temporaryFolder();

function write(name: string, text: string, mode: number): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function refusal(work: () => unknown): GoondanError {
  try {
    work();
  } catch (error) {
    if (GoondanError.is(error)) return error;
    throw error;
  }
  throw new Error('It was not refused.');
}

const secret = 'postgres://gdn:hush@db.example/gdn';

describe('the address of a store', () => {
  test('is that of --store, else that of GOONDAN_STORE, else there is none', () => {
    const environment = { GOONDAN_STORE: 'postgres://one@db/gdn' };
    expect(readStoreAddress('postgres://two@db/gdn', environment)).toBe('postgres://two@db/gdn');
    expect(readStoreAddress(undefined, environment)).toBe('postgres://one@db/gdn');
    expect(readStoreAddress(undefined, {})).toBeUndefined();
    expect(readStoreAddress(undefined, { GOONDAN_STORE: '' })).toBeUndefined();
  });

  test('S-08 with a password is refused on the command line, and accepted from the environment and a private file', () => {
    const error = refusal(() => readStoreAddress(secret, {}));
    expect(error.code).toBe('E_STORE_ADDRESS');
    expect(`${error.message} ${error.suggestion}`).not.toContain('hush');
    const ofDatabase = refusal(() => readStoreAddress('postgres://gdn:hush@db/gdn', {}, '--database'));
    expect(ofDatabase.suggestion).toContain('`--database @FILE`');
    expect(refusal(() => readStoreAddress('postgres://gdn@db/gdn?password=hush', {})).code).toBe('E_STORE_ADDRESS');
    expect(readStoreAddress(undefined, { GOONDAN_STORE: secret })).toBe(secret);
    expect(readStoreAddress(`@${write('private', `${secret}\n`, 0o600)}`, {})).toBe(secret);
  });

  test('S-08 that comes from a file names this file and that of the token, so that they are never deployed', () => {
    const [typed, stored, token] = ['typed', 'stored', 'token'].map((name) => `@${write(name, secret, 0o600)}`);
    const access = readClusterAccess(typed, { GOONDAN_STORE: stored, GOONDAN_CLUSTER_TOKEN: token }, 'gdn');
    expect(access?.secrets.files).toEqual(['typed', 'stored', 'token'].map((name) => join(folder, name)));
  });

  test('that is in a file is read again, and no other', () => {
    const path = write('changing', secret, 0o600);
    for (const read of [
      storeAddressReader(`@${path}`, {}),
      storeAddressReader(undefined, { GOONDAN_STORE: `@${path}` }),
    ]) {
      write('changing', secret, 0o600);
      expect(read?.()).toBe(secret);
      write('changing', secret.replace('hush', 'other'), 0o600);
      expect(read?.()).toBe(secret.replace('hush', 'other'));
    }
    expect(storeAddressReader('postgres://db/gdn', { GOONDAN_STORE: `@${path}` })?.()).toBe('postgres://db/gdn');
    expect(storeAddressReader(undefined, {})).toBeUndefined();
  });

  test('S-08 in a file that others may read is refused', () => {
    for (const mode of [0o640, 0o604, 0o620]) {
      const path = write(`open-${mode}`, secret, mode);
      for (const read of [
        () => readStoreAddress(`@${path}`, {}),
        () => readStoreAddress(undefined, { GOONDAN_STORE: `@${path}` }),
      ]) {
        const error = refusal(read);
        expect(error.code).toBe('E_STORE_ADDRESS');
        expect(error.suggestion).toContain(`chmod 600 ${path}`);
      }
    }
  });

  test('that is not one is refused, without repeating it', () => {
    for (const address of [
      'mysql://hush@db/gdn',
      'hush',
      'postgres://gdn@db',
      'postgres://gdn@db/',
      '@/nothing/there',
    ]) {
      const error = refusal(() => readStoreAddress(address, {}));
      expect(error.code).toBe('E_STORE_ADDRESS');
      expect(error.message).not.toContain('hush');
    }
    expect(refusal(() => readStoreAddress(undefined, { GOONDAN_STORE: 'hush' })).suggestion).toContain(':password');
    expect(refusal(() => readStoreAddress('@/nothing/there', {})).suggestion).toContain('Correct the path');
    expect(refusal(() => readStoreAddress(`@${write('empty', '\n', 0o600)}`, {})).message).toMatch(
      /empty", which is empty/,
    );
    const quoted = `@${write('quoted', '"postgres://gdn:hush@db/gdn"', 0o600)}`;
    for (const error of [
      refusal(() => readStoreAddress(quoted, {})),
      refusal(() => readStoreAddress(undefined, { GOONDAN_STORE: quoted })),
    ]) {
      expect(error.message).toContain(`the file "${quoted.slice(1)}"`);
      expect(error.suggestion).toBe('Write the address without quotation marks.');
      expect(error.message).not.toContain('hush');
    }
    expect(refusal(() => readStoreAddress(quoted.slice(1), {})).suggestion).toContain(`type \`${quoted}\``);
    expect(refusal(() => readStoreAddress(`@${write('long', 'x'.repeat(5_000), 0o600)}`, {})).message).toContain(
      'long',
    );
  });

  test('is shown without its password and settings', () => {
    expect(showAddress('postgres://gdn:a:b@c@one:1,two:2/gdn')).toBe('postgres://gdn@one:1,two:2/gdn');
    expect(showAddress(`${secret}?password=hush&sslmode=require`)).toBe('postgres://gdn@db.example/gdn');
  });
});

test('the place of a store has no user, no password and no settings, and names the usual port', () => {
  expect(placeOf(`${secret}?sslmode=require`)).toBe('db.example:5432/gdn');
  expect(placeOf('postgres://other@DB.example:5432/gdn')).toBe('db.example:5432/gdn');
  expect(placeOf('postgres://one,two:2/gdn')).toBe('one:5432,two:2/gdn');
  expect(placeOf('postgres://db.example/other')).not.toBe(placeOf(secret));
});

describe('the token of a cluster', () => {
  test('is a value or a private file', () => {
    expect(readClusterToken({ GOONDAN_CLUSTER_TOKEN: 'gdn_1' })).toBe('gdn_1');
    const path = write('token', 'gdn_2\n', 0o600);
    expect(readClusterToken({ GOONDAN_CLUSTER_TOKEN: `@${path}` })).toBe('gdn_2');
    expect(readClusterToken({})).toBeUndefined();
  });

  test('S-08 that is missing, or that others may read, is refused', () => {
    expect(refusal(() => needClusterToken({})).code).toBe('E_CLUSTER_TOKEN');
    const path = write('open-token', 'gdn_2', 0o644);
    expect(refusal(() => needClusterToken({ GOONDAN_CLUSTER_TOKEN: `@${path}` })).code).toBe('E_CLUSTER_TOKEN');
  });
});
