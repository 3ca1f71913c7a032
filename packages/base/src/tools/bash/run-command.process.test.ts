// Tests with real processes, because a command can leave behind anything that a shell can start.
import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { hasPart } from '../../../../../test/parts.ts';
import { countSleeping, runningCommands } from '../../process-tree/testing/running-commands.ts';
import { readBashConfig } from './bash-config.ts';
import { findSandbox, type Sandbox } from './find-sandbox.ts';
import { type CommandAsk, type CommandPlace, runCommand } from './run-command.ts';
import { SpillFolder } from './spill-folder.ts';
import { until } from '../../../../../test/until.ts';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';

const folder = temporaryFolder();
const workdir = join(folder, 'work');
mkdirSync(join(workdir, 'inner'), { recursive: true });
symlinkSync('/etc', join(workdir, 'out'));

const none: Sandbox = { works: false, why: 'this test runs without' };
const found = await findSandbox(false);
hasPart('bubblewrap', found.works, found.works ? undefined : found.why);

interface More extends Partial<CommandPlace> {
  readonly settings?: JsonObject;
}

async function run(ask: string | CommandAsk, { settings = {}, ...more }: More = {}) {
  const place: CommandPlace = {
    workdir,
    config: readBashConfig(settings),
    sandbox: none,
    spill: new SpillFolder(folder),
    signal: new AbortController().signal,
    environment: process.env,
    ...more,
  };
  const { stdoutFile = '', ...result } = await runCommand(typeof ask === 'string' ? { command: ask } : ask, place);
  return { ...result, stdoutFile };
}

/** Runs a command past its deadline. The deadline comes later if the command has printed nothing before it. */
async function runLate(command: string, more: More) {
  for (let timeoutMs = 200; ; timeoutMs *= 2) {
    const result = await run({ command, timeoutMs }, more);
    if (result.stdout !== '') return result;
  }
}

let marks = 0;
/** Returns a number of seconds for `sleep` that no other process uses. */
const newMark = () => `7${process.pid}.${++marks}`;

const ways: [string, Sandbox, boolean][] = [
  ['without a sandbox', none, true],
  ['in the sandbox', found, found.works],
];

describe.each(ways)('a command %s', (_way, sandbox, isThere) => {
  test.if(isThere)('returns its exit code and its output', async () => {
    expect(await run('echo out; echo err >&2; exit 3', { sandbox })).toMatchObject({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
      durationMs: expect.any(Number),
      sandbox: sandbox.works ? 'bubblewrap' : 'none',
    });
  });

  test.if(isThere)('runs in the working folder, or in one inside it, and has no input', async () => {
    expect(await run('pwd; cat; touch here', { sandbox })).toMatchObject({ exitCode: 0, stdout: `${workdir}\n` });
    expect(existsSync(join(workdir, 'here'))).toBe(true);
    expect(await run({ command: 'pwd', cwd: 'inner' }, { sandbox })).toMatchObject({ stdout: `${workdir}/inner\n` });
  });

  test.if(isThere)('gets few variables, and those of the config', async () => {
    const environment = { ...process.env, ANTHROPIC_API_KEY: 'canary-of-the-agent', LC_ALL: 'C', SECRET: 'canary' };
    const { stdout } = await run('env', { sandbox, environment, settings: { env: { TEAM: 'blue' } } });
    const names = stdout.split('\n').map((line) => line.split('=')[0]);
    const known = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'TMPDIR', 'LC_ALL', 'LC_CTYPE', 'TERM', 'TEAM'];
    const ofBash = ['PWD', 'SHLVL', '_', 'OLDPWD', ''];
    const ofUs = ['GOONDAN_RUN', 'GOONDAN_CHILD', 'GOONDAN_COMMAND'];
    expect(names.filter((name = '') => ![...known, ...ofBash, ...ofUs].includes(name))).toEqual([]);
    expect(stdout).toContain('TEAM=blue');
    expect(stdout).toContain('TERM=dumb');
    expect(stdout).not.toContain('canary');
  });

  test.if(isThere)('R-08 gets its trace, unless the config says otherwise', async () => {
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const command = 'echo "<$TRACEPARENT>"';
    expect(await run(command, { sandbox, traceparent })).toMatchObject({ stdout: `<${traceparent}>\n` });
    expect(await run(command, { sandbox })).toMatchObject({ stdout: '<>\n' });
    const settings = { env: { TRACEPARENT: 'mine' } };
    expect(await run(command, { sandbox, traceparent, settings })).toMatchObject({ stdout: '<mine>\n' });
  });

  test.if(isThere)('past its deadline is ended with its whole tree, even when SIGTERM is ignored', async () => {
    const mark = newMark();
    const command = `trap '' TERM; (trap '' TERM; setsid sleep ${mark}; sleep ${mark}) & sleep ${mark} & sleep ${mark}`;
    const result = await run({ command, timeoutMs: 300 }, { sandbox });
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
    expect(result).toMatchObject({ timedOut: true, limitMs: 300 });
  });

  test.if(isThere)('past its deadline may finish after SIGTERM, and its output is kept', async () => {
    const command = `trap 'echo bye; exit 7' TERM; echo working; while true; do sleep 0.02; done`;
    const result = await runLate(command, { sandbox, graceMs: 20_000 });
    expect(result).toMatchObject({ exitCode: 7, timedOut: true, stdout: 'working\nbye\n' });
  });

  test.if(isThere)('cannot leave anything in the background, and is not delayed by it', async () => {
    const mark = newMark();
    const command = `(setsid sleep ${mark} &) ; sleep ${mark} & env -i sleep ${mark} & echo started`;
    expect(await run(command, { sandbox })).toMatchObject({ exitCode: 0, stdout: 'started\n' });
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
  });

  test.if(isThere)('is ended when the turn is cancelled', async () => {
    const mark = newMark();
    const cancel = new AbortController();
    const ran = run(`trap '' TERM; setsid sleep ${mark} & sleep ${mark}`, { sandbox, signal: cancel.signal }).catch(
      (error: unknown) => error,
    );
    await until(() => countSleeping(mark) === 2);
    cancel.abort(new Error('cancelled by a test'));
    expect(await ran).toMatchObject({ message: 'cancelled by a test' });
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
  });

  test.if(isThere)('killed by a signal names the signal', async () => {
    // Inside the sandbox, the first process is not the shell. It reports the signal as an exit code, as a shell does.
    expect(await run('kill -KILL $$', { sandbox })).toMatchObject(
      sandbox.works ? { exitCode: 137 } : { exitCode: null, signal: 'SIGKILL' },
    );
  });

  test.if(isThere)(
    'with long output has it cut in the middle, and in a file that the next command can read',
    async () => {
      const spill = new SpillFolder(folder);
      const settings = { outputLimit: 1_000 };
      const { stdout, stdoutFile } = await run('seq 1 5000', { sandbox, spill, settings });
      expect(stdout).toStartWith('1\n2\n3\n');
      expect(stdout).toEndWith('4999\n5000\n');
      expect(stdout).toContain(`[… 22893 of 23893 bytes left out; all of it is in ${stdoutFile} …]`);
      const whole = readFileSync(stdoutFile, 'utf8');
      expect(whole.split('\n')).toHaveLength(5_001);
      const next = await run(`sed -n '2500,2501p' ${stdoutFile}`, { sandbox, spill });
      expect(next.stdout).toBe('2500\n2501\n');
    },
  );
});

describe('the output of a command', () => {
  test('over the limit of the file is only counted, and takes no space', async () => {
    const settings = { outputLimit: 400, spillLimit: 5_000 };
    const { stdout, stdoutFile } = await run({ command: 'head -c 20000000 /dev/zero | tr "\\0" x' }, { settings });
    expect(stdout.length).toBeLessThan(700);
    expect(stdout).toContain('19999600 of 20000000 bytes left out; the first 5000 bytes are in ');
    expect(readFileSync(stdoutFile, 'utf8')).toBe('x'.repeat(5_000));
  });

  test('without an end is limited by the deadline', async () => {
    const result = await runLate('yes', { settings: { spillLimit: 1_000 } });
    expect(result).toMatchObject({ timedOut: true });
    expect(result.stdout).toEndWith('y\ny\n');
  });

  test('in binary form is reported and kept, but not shown', async () => {
    const { stdout, stdoutFile } = await run(String.raw`printf 'a\0b\xff'`);
    expect(stdout).toBe(`[binary output of 4 bytes; all of it is in ${stdoutFile}]`);
    expect([...readFileSync(stdoutFile)]).toEqual([0x61, 0, 0x62, 0xff]);
  });

  test('is printable text: no control characters, no half characters', async () => {
    const { stdout } = await run(String.raw`printf '\e[31mred\e[0m \xff\xfe \x08\r\nok\tyes\n'`);
    expect(stdout).toBe('␛[31mred␛[0m \ufffd\ufffd ␈\nok\tyes\n');
  });

  test('neither shows the config’s variables nor keeps them in a file', async () => {
    const settings = { env: { TOKEN: 'canary-4711-canary' }, outputLimit: 200 };
    const command = 'for i in $(seq 1 100); do echo "token $TOKEN"; done; echo $TOKEN >&2';
    const { stdout, stderr, stdoutFile } = await run(command, { settings });
    expect(stdout).toStartWith('token ***\n');
    expect(stderr).toBe('***\n');
    expect(readFileSync(stdoutFile, 'utf8')).toBe('token ***\n'.repeat(100));
  });
});

describe('a command that is not started', () => {
  test.each<[string, CommandAsk, string]>([
    ['there is no such folder', { command: 'true', cwd: 'nowhere' }, 'there is no folder "nowhere"'],
    ['the folder is a file', { command: 'true', cwd: 'file' }, 'there is no folder "file"'],
    ['the folder is above', { command: 'true', cwd: '..' }, '".." is not inside the working folder'],
    ['the folder is elsewhere', { command: 'true', cwd: '/etc' }, '"/etc" is not inside the working folder'],
    ['a link leads out', { command: 'true', cwd: 'out' }, '"out" is not inside the working folder'],
    ['it contains a NUL', { command: 'echo \0' }, 'a command cannot hold a NUL'],
  ])('%s: E_COMMAND_START', async (_title, ask, problem) => {
    await Bun.write(join(workdir, 'file'), '');
    const refused = await run(ask).catch((error: unknown) => error);
    const message = `The command cannot be started: ${problem}.`;
    expect(refused).toMatchObject({ code: 'E_COMMAND_START', message });
  });

  test('bash is not installed', async () => {
    const refused = await run('true', { environment: { PATH: '/nowhere' } }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_COMMAND_START', message: expect.stringContaining('no bash in PATH') });
  });

  test('it is not started for a turn that was already cancelled', async () => {
    const refused = await run('touch never', { signal: AbortSignal.abort(new Error('over')) }).catch((e: unknown) => e);
    expect(refused).toMatchObject({ message: 'over' });
    expect(existsSync(join(workdir, 'never'))).toBe(false);
  });
});

describe('the sandbox', () => {
  const inSandbox = (command: string, more: More = {}) => run(command, { sandbox: found, ...more });

  test.if(found.works)('has no notice; without it every result has one', async () => {
    expect(await inSandbox('true')).not.toHaveProperty('notice');
    expect(await run('true')).toMatchObject({ notice: 'unsandboxed: this test runs without' });
  });

  test.if(found.works)('hides most files outside the working folder, and makes the rest read-only', async () => {
    const outside = join(folder, 'outside.txt');
    await Bun.write(outside, 'canary of somebody else');
    await Bun.write(join(homedir(), `.goondan-test-${process.pid}`), 'canary at home');
    try {
      const commands = [
        `cat ${outside}`,
        `echo x > ${outside} && exit 1`,
        `cat ~/.goondan-test-${process.pid}`,
        'touch /etc/goondan-test',
        'touch /usr/goondan-test',
        'ls /run /sys /var/run/docker.sock',
        `cat /proc/${process.pid}/environ`,
        `kill -9 ${process.pid}`,
        `mount -t tmpfs none /mnt`,
        `ln -s ${outside} link && cat link`,
      ];
      for (const command of commands) {
        const result = await inSandbox(command);
        expect({ command, exitCode: result.exitCode }).not.toEqual({ command, exitCode: 0 });
        expect(result.stdout).not.toContain('canary');
      }
      expect(await Bun.file(outside).text()).toBe('canary of somebody else');
    } finally {
      rmSync(join(homedir(), `.goondan-test-${process.pid}`));
    }
  });

  test.if(found.works)('has empty home and temporary folders, which disappear afterwards', async () => {
    const { stdout } = await inSandbox(
      'ls -A ~ /tmp | grep -v goondan; echo a > ~/a && echo b > /tmp/b && cat ~/a /tmp/b',
    );
    expect(stdout).toEndWith('a\nb\n');
    expect(existsSync(join(homedir(), 'a'))).toBe(false);
    expect(existsSync('/tmp/b')).toBe(false);
  });

  test.if(found.works)('has no network unless the bundle allows it', async () => {
    using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('reached') });
    const command = `exec 3<>/dev/tcp/127.0.0.1/${server.port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
    expect(await inSandbox(command)).toMatchObject({ exitCode: 1 });
    const open = await findSandbox(true);
    const allowed = await run(command, { sandbox: open, settings: { network: true } });
    expect(allowed.stdout).toContain('reached');
  });

  test.if(found.works)('paths that the bundle names can be read, or written', async () => {
    mkdirSync(join(folder, 'readable'), { recursive: true });
    mkdirSync(join(folder, 'writable'), { recursive: true });
    await Bun.write(join(folder, 'readable/a'), 'to read\n');
    const settings = { readable: ['../readable', '/nowhere'], writable: [join(folder, 'writable')] };
    const command = `cat ../readable/a; echo x > ../writable/b; echo x > ../readable/b`;
    expect(await inSandbox(command, { settings })).toMatchObject({ exitCode: 1, stdout: 'to read\n' });
    expect(await Bun.file(join(folder, 'writable/b')).text()).toBe('x\n');
    expect(existsSync(join(folder, 'readable/b'))).toBe(false);
  });
});
