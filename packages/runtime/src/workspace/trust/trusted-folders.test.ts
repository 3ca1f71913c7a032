import { describe, expect, test } from 'bun:test';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { isTrusted, rememberTrust } from './trusted-folders.ts';

const temporary = temporaryFolder();

describe('trusted folders', () => {
  test('trusts no folder before a person does, and then only that folder', async () => {
    const stateRoot = join(temporary, 'root');
    expect(await isTrusted({ stateRoot, folder: '/home/me/swarm' })).toBe(false);
    await rememberTrust({ stateRoot, folder: '/home/me/swarm' });
    await rememberTrust({ stateRoot, folder: '/home/me/swarm' });
    expect(await isTrusted({ stateRoot, folder: '/home/me/swarm' })).toBe(true);
    expect(await isTrusted({ stateRoot, folder: '/home/me/Swarm' })).toBe(false);
    expect(await isTrusted({ stateRoot, folder: '/home/me/swarm/inner' })).toBe(false);
    expect(await isTrusted({ stateRoot: join(temporary, 'other'), folder: '/home/me/swarm' })).toBe(false);
  });

  test('only its owner can read the file', async () => {
    const stateRoot = join(temporary, 'modes');
    await rememberTrust({ stateRoot, folder: '/a' });
    const [name = ''] = readdirSync(join(stateRoot, 'trusted'));
    expect(statSync(join(stateRoot, 'trusted', name)).mode & 0o777).toBe(0o600);
    expect(statSync(join(stateRoot, 'trusted')).mode & 0o777).toBe(0o700);
  });

  test('many processes that trust at the same moment all succeed, and nothing is lost', async () => {
    const stateRoot = join(temporary, 'crowd');
    const folders = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? '/same' : `/own-${index}`));
    await Promise.all(folders.map((folder) => rememberTrust({ stateRoot, folder })));
    for (const folder of folders) expect(await isTrusted({ stateRoot, folder })).toBe(true);
    expect(readdirSync(join(stateRoot, 'trusted'))).toHaveLength(26);
  });

  test('a file that is damaged, or about another folder, trusts nothing, and is replaced', async () => {
    const stateRoot = join(temporary, 'damaged');
    await rememberTrust({ stateRoot, folder: '/a' });
    const [name = ''] = readdirSync(join(stateRoot, 'trusted'));
    for (const text of ['', '{', 'null', '{"folder":"/b"}']) {
      writeFileSync(join(stateRoot, 'trusted', name), text);
      expect(await isTrusted({ stateRoot, folder: '/a' })).toBe(false);
    }
    await Promise.all([rememberTrust({ stateRoot, folder: '/a' }), rememberTrust({ stateRoot, folder: '/a' })]);
    expect(await isTrusted({ stateRoot, folder: '/a' })).toBe(true);
    expect(readdirSync(join(stateRoot, 'trusted'))).toEqual([name]);
  });
});
