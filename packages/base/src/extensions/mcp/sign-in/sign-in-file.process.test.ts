import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { secretsIn, SignInFile, signInPlace } from './sign-in-file.ts';

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'sign-in-'))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

const placeOf = (url = 'https://a.example/mcp', bundle = '/bundle') =>
  signInPlace(url, bundle, { GOONDAN_STATE_ROOT: root });
const signIn = { tokens: { access_token: 'an access token', token_type: 'Bearer', issuer: 'https://a.example' } };

async function written(): Promise<SignInFile> {
  const file = new SignInFile(placeOf());
  await file.lock(async () => file.write(signIn));
  return file;
}

describe('the file of a sign-in', () => {
  test('N-01 is for its user only, however the umask is set', async () => {
    const before = process.umask(0);
    try {
      const { place } = await written();
      const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
      expect([modeOf(place.path), modeOf(dirname(place.path))]).toEqual(['600', '700']);
      expect(readdirSync(dirname(place.path)).filter((name) => !name.endsWith('.lock'))).toHaveLength(1);
    } finally {
      process.umask(before);
    }
  });

  test('N-01 is a file: a pipe in its place is refused at once', async () => {
    const { place } = await written();
    rmSync(place.path);
    Bun.spawnSync(['mkfifo', '-m', '600', place.path]);
    expect(() => new SignInFile(place).read()).toThrow('it is not a file');
  });

  test.skipIf(process.getuid?.() !== 0)('N-01 of another user is refused', async () => {
    const file = await written();
    chownSync(file.place.path, 65_534, 65_534);
    expect(() => file.read()).toThrow('it belongs to another user');
  });

  test('N-01 is written, whatever is in the place of its draft, and a link there is not followed', async () => {
    const file = await written();
    const elsewhere = join(root, 'elsewhere');
    writeFileSync(elsewhere, 'mine');
    symlinkSync(elsewhere, `${file.place.path}.next`);
    await file.lock(async () => file.write({ ...signIn, receivedAt: 7 }));
    expect([file.read().receivedAt, readFileSync(elsewhere, 'utf8')]).toEqual([7, 'mine']);
  });

  test('N-01 is for its user only, whatever an earlier process left at its place', async () => {
    const { path } = placeOf();
    mkdirSync(dirname(path), { recursive: true });
    chmodSync(dirname(path), 0o755);
    writeFileSync(`${path}.next`, '');
    chmodSync(`${path}.next`, 0o644);
    await written();
    expect([path, dirname(path)].map((each) => (statSync(each).mode & 0o777).toString(8))).toEqual(['600', '700']);
  });

  test('N-01 belongs to one address and one bundle', async () => {
    const file = await written();
    const text = readFileSync(file.place.path, 'utf8');
    expect(file.read()).toMatchObject(signIn);
    for (const place of [placeOf('https://b.example/mcp'), placeOf(undefined, '/other')]) {
      expect(place.path).not.toBe(file.place.path);
      writeFileSync(place.path, text, { mode: 0o600 });
      expect(() => new SignInFile(place).read()).toThrow('it belongs to another server');
    }
  });

  test.each([
    ['no JSON', '{"version": 1'],
    ['another version', '{"version": 2}'],
    ['no object', '[]'],
    ['empty', ''],
    [
      'tokens that are none',
      '{"version":1,"url":"https://a.example/mcp","bundle":"/bundle","tokens":{"access_token":7}}',
    ],
    ['a client that is none', '{"version":1,"url":"https://a.example/mcp","bundle":"/bundle","client":"x"}'],
    ['a demand that is none', '{"version":1,"url":"https://a.example/mcp","bundle":"/bundle","demand":"x"}'],
    ['a time that is none', '{"version":1,"url":"https://a.example/mcp","bundle":"/bundle","receivedAt":"x"}'],
  ])('N-01 is refused when it is damaged: %s', async (_, text) => {
    const file = await written();
    writeFileSync(file.place.path, text);
    expect(() => file.read()).toThrow('it is damaged');
  });

  test('N-01 is refused when others could read it, when it is a link, and when it is too large', async () => {
    const file = await written();
    const { path } = file.place;
    chmodSync(path, 0o640);
    expect(() => file.read()).toThrow('other users could read it: its mode is 0640');
    writeFileSync(path, 'x'.repeat(1_000_001));
    chmodSync(path, 0o600);
    expect(() => file.read()).toThrow('larger than 1000000 bytes');
    rmSync(path);
    symlinkSync('/etc/hostname', path);
    expect(() => file.read()).toThrow('cannot be read (ELOOP)');
    await file.lock(async () => file.write(signIn));
    expect(file.read()).toMatchObject(signIn);
  });

  test('N-01 names all its secrets for masking, and none if it cannot be used', async () => {
    const file = await written();
    const tokens = { ...signIn.tokens, refresh_token: 'a refresh token' };
    const client = { client_id: 'us', client_secret: 'a client secret', issuer: 'https://a.example' };
    await file.lock(async () => file.write({ tokens, client }));
    expect(secretsIn(file.place)).toEqual(['an access token', 'a refresh token', 'a client secret']);
    chmodSync(file.place.path, 0o644);
    expect(secretsIn(file.place)).toEqual([]);
  });

  test('N-01 is removed with the draft that a killed process left', async () => {
    const file = await written();
    writeFileSync(`${file.place.path}.next`, 'an access token');
    expect(await file.lock(async () => [file.remove(), file.remove()])).toEqual([true, false]);
    expect(readdirSync(dirname(file.place.path)).filter((name) => !name.endsWith('.lock'))).toEqual([]);
  });

  test('N-01 is written by one at a time, and the lock ends with a failure', async () => {
    const file = await written();
    let running = 0;
    let most = 0;
    const work = async () => {
      running += 1;
      most = Math.max(most, running);
      await Bun.sleep(5);
      running -= 1;
    };
    await Promise.all(Array.from({ length: 6 }, () => new SignInFile(placeOf()).lock(work)));
    expect(most).toBe(1);
    expect(file.lock(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await file.lock(async () => 'free')).toBe('free');
  });

  test('a wait for the lock can be given up', async () => {
    const file = await written();
    const leaving = new AbortController();
    await file.lock(async () => {
      const waiting = file.lock(async () => undefined, leaving.signal);
      leaving.abort(new Error('gone'));
      expect(waiting).rejects.toThrow('gone');
    });
  });
});
