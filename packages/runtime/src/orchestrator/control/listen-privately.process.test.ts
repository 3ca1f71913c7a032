import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { listenPrivately } from './listen-privately.ts';

let root: string;
let path: string;
let maskBefore: number;
const servers: Bun.Server<undefined>[] = [];

beforeEach(() => {
  // This is the most permissive umask.
  maskBefore = process.umask(0);
  root = mkdtempSync(join(tmpdir(), 'listen-'));
  path = join(root, 'workspace', 'control.sock');
});

afterEach(async () => {
  process.umask(maskBefore);
  await Promise.all(servers.splice(0).map((server) => server.stop(true)));
  rmSync(root, { recursive: true, force: true });
});

describe('a private socket', () => {
  test('is closed to other users from its first moment, and so is its folder', () => {
    let born: number | undefined;
    listenPrivately(path, (draft) => {
      const server = listen(draft);
      born = modeOf(draft) & 0o077;
      expect(modeOf(dirname(draft))).toBe(0o700);
      return server;
    });
    expect(born).toBe(0);
    expect(modeOf(path)).toBe(0o600);
    expect(process.umask()).toBe(0);
  });

  test('answers at its path, and leaves nothing else in the folder', async () => {
    listenPrivately(path, listen);
    expect(await (await fetch('http://localhost/', { unix: path })).text()).toBe('here');
    expect(readdirSync(dirname(path))).toEqual(['control.sock']);
  });

  test('closes its own folder again when it was open to others', () => {
    mkdirSync(dirname(path), { mode: 0o777 });
    chmodSync(dirname(path), 0o777);
    listenPrivately(path, listen);
    expect(modeOf(dirname(path))).toBe(0o700);
  });

  test('replaces the socket of a dead process', async () => {
    mkdirSync(dirname(path));
    // This process leaves a socket without a listener, and an unfinished draft of a socket.
    const dead = Bun.spawn([
      process.execPath,
      '-e',
      `Bun.listen({ unix: process.argv[1], socket: { data() {} } }); Bun.listen({ unix: process.argv[2], socket: { data() {} } }); process.kill(process.pid, 'SIGKILL')`,
      path,
      path.replace('.sock', '.next'),
    ]);
    await dead.exited;
    expect(lstatSync(path).isSocket()).toBe(true);
    listenPrivately(path, listen);
    expect(await (await fetch('http://localhost/', { unix: path, keepalive: false })).text()).toBe('here');
  });

  test('replaces nothing else', () => {
    mkdirSync(dirname(path));
    writeFileSync(path, 'precious');
    expect(refusalOf(() => listenPrivately(path, listen))).toEqual([
      'E_CONTROL_PATH',
      `The control socket cannot listen at ${path}: exists, but is not a socket.`,
    ]);
    expect(existsSync(path)).toBe(true);
  });

  test('does not follow a link at its path', () => {
    mkdirSync(join(root, 'elsewhere'), { mode: 0o700 });
    symlinkSync(join(root, 'elsewhere'), dirname(path));
    expect(refusalOf(() => listenPrivately(path, listen))).toEqual([
      'E_CONTROL_PATH',
      `The control socket cannot listen at ${dirname(path)}: is a link.`,
    ]);
  });

  test('reports why it cannot be made', () => {
    writeFileSync(join(root, 'file'), '');
    const [code, message] = refusalOf(() => listenPrivately(join(root, 'file', 'workspace', 'control.sock'), listen));
    expect(code).toBe('E_CONTROL_PATH');
    expect(message).toContain('ENOTDIR');
    const broken = () => {
      throw new Error('No sockets today.');
    };
    expect(refusalOf(() => listenPrivately(path, broken))).toEqual([
      'E_CONTROL_PATH',
      `The control socket cannot listen at ${path}: No sockets today.`,
    ]);
    expect(process.umask()).toBe(0);
  });

  test('removes its own name, but not that of its successor', async () => {
    const first = listenPrivately(path, listen);
    const second = listenPrivately(path, listen);
    await first.server.stop(true);
    first.remove();
    expect(await (await fetch('http://localhost/', { unix: path, keepalive: false })).text()).toBe('here');
    await second.server.stop(true);
    second.remove();
    expect(existsSync(path)).toBe(false);
    second.remove();
  });
});

function listen(unix: string): Bun.Server<undefined> {
  const server = Bun.serve({ unix, fetch: () => new Response('here') });
  servers.push(server);
  return server;
}

function modeOf(name: string): number {
  return lstatSync(name).mode & 0o777;
}

function refusalOf(action: () => unknown): string[] {
  try {
    action();
  } catch (error) {
    if (error instanceof GoondanError) return [error.code, error.message];
    throw error;
  }
  return [];
}
