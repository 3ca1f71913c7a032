// Tests wrong use of every command: the exit code, and a message with the problem and a suggestion.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { GdnPlace } from './testing/gdn-place.ts';
import { escapePattern } from './testing/open-place.ts';
import { allCommands, type KnownCommand, runCaptured } from './testing/run-captured.ts';
import { sampleBundle } from './testing/sample-bundle.ts';
import { sampledCases } from '../../../test/samples.ts';

const place = new GdnPlace();
const at = (name: string) => join(place.folder, name);
const ends = allCommands().filter(({ command }) => command.commands.length === 0);
/** Returns commands with their names. `npm test` takes every fifth command, and other ones for each kind of wrong use. */
const sampled = (known: readonly KnownCommand[], first: number) =>
  sampledCases(known, 10, first).map((each) => [each.path.join(' '), each] as const);
/** Commands about a database that many nodes share. Without its address, they do nothing. */
const needStore = ends.filter(
  ({ path: [name = '', second = ''] }) =>
    ['deploy', 'nodes'].includes(name) || (name === 'store' && second !== 'compact'),
);
/** Commands that need a bundle. `init` creates one, and `demo` has its own. */
const needBundle = ends.filter(
  (known) => !['init', 'demo', 'doctor', 'ls'].includes(known.path[0] ?? '') && !needStore.includes(known),
);
/** Commands that read or write the state root. */
const needState = needBundle.filter(({ path: [name = ''] }) => !['validate', 'mcp'].includes(name));
/** Options that a command needs, but that commander does not treat as required. */
const moreOptions: Readonly<Record<string, readonly string[]>> = { 'mcp add': ['--url', 'http://localhost'] };
const takeFew = ends.filter(({ command }) => !command.registeredArguments.some(({ variadic }) => variadic));
const needParts = ends.filter((known) => usual(known).length > known.path.length);
/** `gdn changes` also works while the bundle cannot be read. */
const readBundle = needState.filter(({ path }) => path[0] !== 'changes');

beforeAll(async () => {
  await place.write('good', { 'goondan.yaml': sampleBundle() });
  await place.write('bad', { 'goondan.yaml': sampleBundle({ agent: 'toolz: []' }) });
  await place.write('broken', { 'goondan.yaml': 'kind: [\n' });
  await place.write('.', { file: 'A file.\n' });
  mkdirSync(at('empty'));
});
afterAll(async () => expect(await place.remove()).toEqual([]), 60_000);

describe('every command', () => {
  test.each(sampled(ends, 0))('gdn %s: an option it does not have', async (name, known) => {
    await expectRefusal([...usual(known), '--jsno'], 2, {
      message: "unknown option '--jsno' (Did you mean --json?)",
      suggestion: `\`gdn ${name} --help\` shows the arguments and options.`,
    });
  });

  test.each(sampled(ends, 1))('gdn %s: options without their value, or with an empty one', async (name, known) => {
    for (const { flags, long } of known.command.options.filter(({ required }) => required)) {
      const suggestion = `\`gdn ${name} --help\` shows the arguments and options.`;
      await expectRefusal([...usual(known), `${long}`], 2, { message: `option '${flags}' needs a value`, suggestion });
      const message = `option '${flags}' argument '' is invalid. `;
      await expectRefusal([...usual(known), `${long}`, ''], 2, {
        message: new RegExp(`^${escapePattern(message)}`),
        suggestion,
      });
    }
  });

  test.each(sampled(takeFew, 2))('gdn %s: an argument too many', async (_name, known) => {
    const takesFolder = known.command.registeredArguments.some((each) => each.name() === 'folder');
    const most = known.command.registeredArguments.map(() => 'x');
    const hasBundle = known.command.options.some(({ long }) => long === '--bundle');
    const hint = takesFolder || !hasBundle ? '' : 'Name the bundle with `--bundle more`. ';
    await expectRefusal([...known.path, ...most, ...neededOptions(known), 'more'], 2, {
      message: /^too many arguments for '/,
      suggestion: new RegExp(`^${escapePattern(hint)}`),
    });
  });

  test.each(sampled(needParts, 3))('gdn %s: a required part is missing', async (name, { path }) => {
    await expectRefusal([...path], 2, {
      message: /^(missing required argument '[\w-]+'|required option '.+' not specified)$/,
      suggestion: new RegExp(
        `^Type it as \`gdn ${name} .*<[\\w-]+>.*\`\\. \`gdn ${name} --help\` shows the arguments and options\\.$`,
      ),
    });
  });

  test.each(sampled(needBundle, 4))('gdn %s: no bundle', async (_name, known) => {
    await expectRefusal([...usual(known), '--bundle', at('nowhere')], 3, {
      code: 'E_BUNDLE_MISSING',
      message: `There is no folder "${at('nowhere')}".`,
      suggestion: 'Name the folder that holds `goondan.yaml` with `--bundle`, or create a bundle with `gdn init`.',
    });
    await expectRefusal([...usual(known), '--bundle', at('empty')], 3, {
      code: 'E_BUNDLE_MISSING',
      message: `There is no goondan.yaml in "${at('empty')}".`,
      suggestion: 'Name the folder that holds `goondan.yaml` with `--bundle`, or create a bundle with `gdn init`.',
    });
    await expectRefusal([...usual(known), '--bundle', at('good/goondan.yaml')], 3, {
      code: 'E_BUNDLE_MISSING',
      message: `"${at('good/goondan.yaml')}" is a file, not the folder of a bundle.`,
      suggestion: `Name the folder it is in: "${at('good')}".`,
    });
  });

  test.each(sampled(readBundle, 5))('gdn %s: a bundle that cannot be read', async (_name, known) => {
    const { stdout, stderr, exitCode } = await runCaptured([...usual(known), '--bundle', at('broken')]);
    expect(stderr).toMatch(/goondan\.yaml:2:1 /);
    expect(stderr).toMatch(/(^|\n)E_BUNDLE_INVALID: .+\n(.*\n)*Correct the errors .+\n$/);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 4 });
  });

  test.each(sampled(needState, 6))('gdn %s: a swarm that the bundle does not have', async (_name, known) => {
    await expectRefusal([...usual(known), '--bundle', at('good'), '--swarm', 'defualt'], 3, {
      code: 'E_SWARM_UNKNOWN',
      message: 'The bundle declares no Swarm/defualt; it has default.',
      suggestion: 'Did you mean `default`?',
    });
  });

  test.each(sampled(needState, 7))('gdn %s: a state root that is a file', async (_name, known) => {
    for (const root of [at('file'), at('file/inside')]) {
      await expectRefusal([...usual(known), '--bundle', at('good'), '--state-root', root], 3, {
        code: 'E_STATE_ROOT',
        message: `Conversations cannot be kept in "${root}": "${at('file')}" is a file, not a folder.`,
        suggestion: /`--state-root` or `GOONDAN_STATE_ROOT`/,
      });
    }
  });
});

describe('every command about a database', () => {
  test.each(sampled(needStore, 8))('gdn %s: no address', async (_name, known) => {
    await expectRefusal(usual(known), 3, {
      code: 'E_STORE_ADDRESS',
      message: 'No store is named.',
      suggestion: 'Add `--store postgres://user@host/database`, or set GOONDAN_STORE.',
    });
  });

  const takeStore = ends.filter(({ command }) => command.options.some(({ long }) => long === '--store'));
  test.each(sampled(takeStore, 9))('S-08 gdn %s: a password on the command line', async (_name, known) => {
    const { stdout, stderr, exitCode } = await runCaptured([...usual(known), '--store', 'postgres://me:hush@db/gdn']);
    expect(stderr).toStartWith('E_STORE_ADDRESS: The address of the store has a password');
    expect(`${stdout}${stderr}`).not.toContain('hush');
    expect(exitCode).toBe(3);
  });
});

describe('every command on files only', () => {
  const env = { GOONDAN_STORE: 'postgres://me@db/gdn' };

  test.each([
    ['backup', ['backup', at('copy')], /^Back up a database with the tools of PostgreSQL, such as pg_dump\. /],
    ['restore', ['restore', at('copy')], /^Restore a database with the tools of PostgreSQL, .* `gdn store import/],
    ['changes undo', ['changes', 'undo', 'x', '--yes'], /^Take the change back .* `gdn deploy/],
  ])('S-08 gdn %s: a store is named', async (name, args, suggestion) => {
    const onFiles = /To work on the files of this machine, unset GOONDAN_STORE\.$/;
    const refused = await runCaptured([...args, '--bundle', at('good'), '--json'], { env });
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(JSON.parse(refused.stderr).error).toMatchObject({
      code: 'E_USAGE',
      message: `\`gdn ${name}\` works on files, and GOONDAN_STORE names a database.`,
      suggestion: expect.stringMatching(suggestion),
    });
    expect(JSON.parse(refused.stderr).error.suggestion).toMatch(onFiles);
    await expectRefusal([...args, '--store', env.GOONDAN_STORE], 2, {
      message: /^unknown option '--store'/,
      suggestion,
    });
  });

  test('gdn changes list says that it knows the nodes on this machine only', async () => {
    const { stdout, stderr, exitCode } = await runCaptured(['changes', 'list', '--bundle', at('good')], { env });
    expect({ stdout, exitCode }).toEqual({ stdout: 'There are no changesets.\n', exitCode: 0 });
    expect(stderr).toBe('note: These are the changesets of the nodes on this machine only.\n');
  });
});

describe('one command', () => {
  const notRunning = { code: 'E_CONTROL_CLOSED', message: 'Swarm "default" is not running.' };
  const noTrust = /^Review the code\. Then add `--trust`/;

  test.each([
    ['nothing like a command', ['xyzzy'], 2, "unknown command 'xyzzy'", '`gdn --help` lists the commands.'],
    ['help about one', ['help', 'dmeo'], 2, "unknown command 'dmeo' (Did you mean demo?)", /^`gdn --help` lists/],
    ['its help', ['dmeo', '--help'], 2, "unknown command 'dmeo' (Did you mean demo?)", /^`gdn --help` lists/],
    [
      'one of a group',
      ['instance', 'shwo'],
      2,
      "unknown command 'shwo' (Did you mean show?)",
      /^`gdn instance --help`/,
    ],
    [
      'help of one of a group',
      ['instance', 'shwo', '-h'],
      2,
      "unknown command 'shwo' (Did you mean show?)",
      /instance/,
    ],
    [
      'help of more than a command',
      ['help', 'run', 'extra'],
      2,
      "command 'run' has no sub-command 'extra'",
      /^`gdn run --help`/,
    ],
    ['an option before it', ['--wait', 'send'], 2, "unknown option '--wait'", /^Options come after the command/],
    ['two that exclude each other', ['run', '--input', 'x', '--detach'], 2, /--detach.+--input/, /^`gdn run --help`/],
    ['trust for nothing', ['explain', '--trust'], 2, "option '--trust' needs option '--load'", /^`gdn explain --help`/],
    ['a file for nothing', ['run', '--file', 'x'], 2, "option '--file' needs option '--input'", /^`gdn run --help`/],
    [
      'prices for nothing',
      ['run', '--prices', 'x'],
      2,
      "option '--prices' needs a terminal to chat at",
      /^`gdn run --help`/,
    ],
    ['no browser for nothing', ['demo', '--no-open'], 2, "option '--no-open' needs option '--studio'", /^`gdn demo -/],
    ['an empty input', ['demo', '--input', ' '], 2, /'--input <text>' .+ It is empty\.$/, /^`gdn demo --help`/],
    [
      'an input without its option',
      ['send', 'good', 'morning'],
      2,
      /^required option '--input <text>' not specified/,
      /^Type it as `gdn send --input "good morning"`\. /,
    ],
    ['no input at all', ['send'], 2, /^required option '--input <text>'/, /^Type it as `gdn send --input <text>`\. /],
    ['an input without quotes', ['run', 'x', '--input', 'a', 'b'], 2, /^too many arguments for 'run'/, /into quotes/],
    ['no such template', ['init', '--template', 'x'], 2, /Allowed choices are default, /, /^`gdn init --help`/],
    ['no number', ['logs', '--last', 'ten'], 2, /It is not a number from 1 to 100000\.$/, /^`gdn logs --help`/],
    ['no time', ['stop', '--grace', '-1'], 2, /It is not a number of seconds from 0 to 3600\.$/, /^`gdn stop --help`/],
  ])('%s: exit %p', async (_name, args, exitCode, message, suggestion) => {
    await expectRefusal(args, exitCode, { message, suggestion });
  });

  test.each(['send --input x', 'restart', 'reload', 'deadletter retry a', 'logs -f'])(
    'gdn %s: the swarm does not run',
    async (line) => {
      const state = at('a state root');
      await expectRefusal([...line.split(' '), '--bundle', at('good'), '--state-root', state], 3, {
        ...notRunning,
        suggestion: `Start it with \`gdn run ${at('good')} --state-root '${state}' --detach\`, then type this command again.`,
      });
    },
  );

  test.each([
    ['stop', 'There is nothing to stop.'],
    ['cancel', /^No turn is running\. `gdn status --bundle \S+good --state-root '.+'` lists the inputs that wait/],
  ])('gdn %s: the swarm does not run, and need not', async (command, suggestion) => {
    await expectRefusal([command, '--bundle', at('good'), '--state-root', at('a state root')], 3, {
      ...notRunning,
      suggestion,
    });
  });

  test('two bundles', async () => {
    await expectRefusal(['run', at('good'), '--bundle', at('bad')], 2, {
      message: `Two bundles are named: "${at('good')}" and "${at('bad')}".`,
      suggestion: 'Name it once, as the argument or with `--bundle`.',
    });
  });

  test.each(['--input x', '--detach'])('gdn run %s: without trust', async (line) => {
    await expectRefusal(['run', at('good'), ...line.split(' '), '--state-root', place.stateRoot], 3, {
      code: 'E_UNTRUSTED',
      message: `The code in "${at('good')}" is not trusted yet.`,
      suggestion: noTrust,
    });
  });

  test('an unknown agent', async () => {
    await expectRefusal(['explain', at('good'), '--agent', 'hots', '--state-root', place.stateRoot], 3, {
      code: 'E_AGENT_UNKNOWN',
      message: /^There is no agent "hots"\. Agents: /,
      suggestion: 'Did you mean `host`?',
    });
  });

  // This test is skipped for root, because root may read everything.
  test.skipIf(process.getuid?.() === 0)('folders without read or write permission', async () => {
    mkdirSync(at('closed'), { mode: 0o000 });
    mkdirSync(at('read-only'), { mode: 0o500 });
    await expectRefusal(['status', '--bundle', at('closed')], 3, {
      code: 'E_BUNDLE_MISSING',
      message: `The folder "${at('closed')}" cannot be read.`,
      suggestion: /permission/,
    });
    const run = ['run', at('good'), '--trust', '--state-root'];
    for (const args of [['--detach'], ['--input', 'x']]) {
      const refused = { code: 'E_STATE_ROOT', message: /you may not write to/, suggestion: /GOONDAN_STATE_ROOT/ };
      await expectRefusal([...run, at('read-only'), ...args], 3, refused);
    }
    chmodSync(at('closed'), 0o700);
  });
});

describe('input', () => {
  const run = ['run', 'good', '--trust', '--input', '-'];

  test('from a closed input: a suggestion, exit 2', async () => {
    expect(await place.runProcess(...run)).toEqual({
      stdout: '',
      stderr: 'E_USAGE: Standard input is empty.\nPipe the text into it, or write it after `--input`.\n',
      exitCode: 2,
    });
  });

  test('without an end: a suggestion, exit 2', async () => {
    expect(await place.runProcessWith({ stdin: 'x'.repeat(17_000_000) }, ...run)).toEqual({
      stdout: '',
      stderr: 'E_USAGE: Standard input has more than 16000000 bytes.\nGive the agent a file to read instead.\n',
      exitCode: 2,
    });
  });

  test('from a person: how to end it', async () => {
    const { screen, exitCode } = await place.runOnTerminal(run, [{ whenSeen: 'Ctrl-D', keys: 'Hello\n\x04' }]);
    expect(screen).toContain('Type the input, then press Ctrl-D on an empty line.\n');
    expect(screen).toContain('You said: Hello');
    expect(exitCode).toBe(0);
  });
});

interface Refusal {
  /** The error code; `E_USAGE` when absent. */
  readonly code?: string;
  readonly message: string | RegExp;
  readonly suggestion: string | RegExp;
}

/** Expects the same error for people and for programs, on standard error only and without a stack. */
async function expectRefusal(args: readonly string[], exitCode: number, refusal: Refusal): Promise<void> {
  const { code = 'E_USAGE', message, suggestion } = refusal;
  const { stderr, ...rest } = await runCaptured(args);
  expect({ args, ...rest }).toEqual({ args, stdout: '', exitCode });
  const [problem = '', ...more] = stderr.split('\n');
  expect(problem).toMatch(whole(message, `${code}: `));
  expect(more[0] ?? '').toMatch(whole(suggestion));
  expect(more.slice(1)).toEqual(['']);
  expect(stderr).not.toMatch(/^\s+at /m);

  // Appends the option after the command, where it cannot be taken for a value.
  const known = ends.find(({ path }) => path.every((word, index) => args[index] === word));
  const json = await runCaptured(args.toSpliced(known?.path.length ?? args.length, 0, '--json'));
  expect({ args, stdout: json.stdout, exitCode: json.exitCode }).toEqual({ args, stdout: '', exitCode });
  expect(JSON.parse(json.stderr)).toEqual({
    error: {
      code,
      message: expect.stringMatching(whole(message)),
      suggestion: expect.stringMatching(whole(suggestion)),
    },
  });
}

/** A text must match completely; a pattern matches from the start of the text. */
function whole(wanted: string | RegExp, before = ''): RegExp {
  if (typeof wanted === 'string') return new RegExp(`^${escapePattern(before + wanted)}$`);
  return new RegExp(
    wanted.source.startsWith('^') ? `^${escapePattern(before)}${wanted.source.slice(1)}` : wanted.source,
  );
}

/** Returns a valid command line, with all required arguments and options. */
function usual(known: KnownCommand): string[] {
  const needed = known.command.registeredArguments
    .filter(({ required }) => required)
    .map(({ argChoices }) => argChoices?.[0] ?? 'x');
  return [...known.path, ...needed, ...neededOptions(known)];
}

function neededOptions({ command, path }: KnownCommand): string[] {
  const mandatory = command.options.filter((option) => option.mandatory).flatMap(({ long }) => [long ?? '', 'x']);
  return [...mandatory, ...(moreOptions[path.join(' ')] ?? [])];
}
