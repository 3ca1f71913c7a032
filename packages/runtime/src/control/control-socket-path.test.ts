import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { controlSocketPath, keeperSocketPath } from './control-socket-path.ts';

const environment = { runtimeFolder: '/run/user/1000', temporaryFolder: '/tmp', userId: 1000 };
const deep = `/home/me/${'deep/'.repeat(20)}workspaces/team`;

describe('the place of the control socket', () => {
  test('is the folder of the workspace', () => {
    expect(controlSocketPath('/home/me/.goondan/workspaces/team', 'team', environment)).toBe(
      '/home/me/.goondan/workspaces/team/control.sock',
    );
  });

  test('is the folder of the workspace up to 100 bytes, and not beyond', () => {
    const folder = `/${'x'.repeat(100 - '//control.sock'.length)}`;
    expect(controlSocketPath(folder, 'team', environment)).toBe(`${folder}/control.sock`);
    expect(controlSocketPath(`${folder}x`, 'team', environment)).toStartWith('/run/user/1000/goondan-1000/team-');
    // The limit is in bytes, not in characters.
    const korean = `/${'군'.repeat(30)}`;
    expect(controlSocketPath(korean, 'team', environment)).toStartWith('/run/user/1000/');
  });

  test('is otherwise a folder of the user in the runtime folder, the temporary folder, or /tmp', () => {
    const { runtimeFolder: _, ...without } = environment;
    expect(controlSocketPath(deep, 'team', environment)).toMatch(
      /^\/run\/user\/1000\/goondan-1000\/team-[0-9a-f]{16}\.sock$/,
    );
    expect(controlSocketPath(deep, 'team', { ...without, temporaryFolder: '/var/tmp' })).toStartWith(
      '/var/tmp/goondan-1000/team-',
    );
    expect(controlSocketPath(deep, 'team', { ...environment, runtimeFolder: 'not/absolute' })).toStartWith('/tmp/');
    expect(controlSocketPath(deep, 'team', { ...environment, runtimeFolder: deep, temporaryFolder: deep })).toStartWith(
      '/tmp/goondan-1000/team-',
    );
  });

  test('fits, is the same for the same inputs, and is not shared', () => {
    const name = fc.stringMatching(/^[a-z0-9-]{1,81}$/);
    const folder = fc
      .array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 8 })
      .map((parts) => `/${parts.map(encodeURIComponent).join('/')}`);
    fc.assert(
      fc.property(folder, folder, name, fc.nat(), (root, temporaryFolder, id, userId) => {
        const places = { temporaryFolder, userId };
        const path = controlSocketPath(`${root}/${id}`, id, places);
        expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100);
        expect(controlSocketPath(`${root}/${id}`, id, places)).toBe(path);
        expect(controlSocketPath(`${root}/x/${id}`, id, places)).not.toBe(path);
        const kept = keeperSocketPath(`${root}/${id}/run`, userId, places);
        expect(Buffer.byteLength(kept)).toBeLessThanOrEqual(100);
        expect(keeperSocketPath(`${root}/${id}/run`, userId + 1, places)).not.toBe(kept);
        expect(keeperSocketPath(`${root}/x/${id}/run`, userId, places)).not.toBe(kept);
      }),
    );
  });
});
