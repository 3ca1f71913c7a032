import { describe, expect, test } from 'bun:test';
import { sandboxArguments, type SandboxPlan } from './sandbox-arguments.ts';

const plan: SandboxPlan = {
  workdir: '/home/me/project',
  cwd: '/home/me/project/src',
  home: '/home/me',
  network: false,
  readable: [],
  writable: [],
};

/** Returns the mounts of the sandbox, in order. */
function mountsOf(more: Partial<SandboxPlan> = {}): string[] {
  const list = sandboxArguments({ ...plan, ...more });
  return list.flatMap((flag, index) =>
    /^--(?:tmpfs|ro-bind|bind)/.test(flag) ? [`${flag} ${list[index + 1] ?? ''}`] : [],
  );
}

describe('the arguments of bubblewrap', () => {
  test('a working folder inside an empty home comes after it', () => {
    const mounts = mountsOf();
    expect(mounts).toContain('--tmpfs /home/me');
    expect(mounts.indexOf('--bind /home/me/project')).toBeGreaterThan(mounts.indexOf('--tmpfs /home/me'));
  });

  test.each(['/', '/home/me', '/tmp', '/tmp/x', '/usr/src/x', '/etc'])(
    'the working folder %s is writable, wherever it is',
    (workdir) => {
      const over = mountsOf({ workdir, cwd: workdir });
      const own = over.indexOf(`--bind ${workdir}`);
      expect(own).not.toBe(-1);
      // No later mount hides the working folder.
      for (const later of over.slice(own + 1)) {
        const path = later.split(' ')[1] ?? '';
        expect(workdir === path || workdir.startsWith(`${path}/`)).toBe(false);
      }
    },
  );

  test('a path inside the working folder keeps the mode it is declared with', () => {
    const mounts = mountsOf({ readable: ['.git'], workdir: '/w' });
    expect(mounts.indexOf('--ro-bind-try /w/.git')).toBeGreaterThan(mounts.indexOf('--bind /w'));
    const everything = mountsOf({ workdir: '/' });
    expect(everything.indexOf('--ro-bind-try /usr')).toBeGreaterThan(everything.indexOf('--bind /'));
  });

  test('other paths are relative to the working folder, or to the home', () => {
    const mounts = mountsOf({ readable: ['../other', '~/.cargo', '/data'], writable: ['~'] });
    expect(mounts).toEqual(
      expect.arrayContaining([
        '--ro-bind-try /home/me/other',
        '--ro-bind-try /home/me/.cargo',
        '--ro-bind-try /data',
        '--bind-try /home/me',
      ]),
    );
  });

  test('a command has no capabilities', () => {
    expect(sandboxArguments(plan).join(' ')).toContain('--cap-drop ALL ');
  });

  test('the network is shared only when it is allowed', () => {
    expect(sandboxArguments(plan)).not.toContain('--share-net');
    expect(sandboxArguments({ ...plan, network: true })).toContain('--share-net');
    expect(sandboxArguments(plan)).toEqual(expect.arrayContaining(['--unshare-all', '--die-with-parent']));
  });
});
