// Tests the help of every command.
import { describe, expect, test } from 'bun:test';
import { exitCodes } from './exit-codes.ts';
import { allCommands, type KnownCommand, runCaptured } from './testing/run-captured.ts';

const commands = allCommands();
const named = (known: readonly KnownCommand[]) => known.map((each) => [each.path.join(' '), each] as const);

describe('the commands', () => {
  test('exist', () => {
    expect(commands.map(({ path }) => path.join(' '))).toContain('instance list');
  });

  test.each(named(commands))('gdn %s --help reads well', async (name, { path, command }) => {
    const { stdout, stderr, exitCode } = await runCaptured([...path, '--help']);
    expect(stdout).toStartWith(`Usage: gdn ${name} [options]`);
    expect(command.summary()).toMatch(/^[a-z][^.]{8,60}$/);
    expect(command.description()).toMatch(/^[A-Z].*\.$/);
    expect(stdout).toContain(`\n${command.description().slice(0, 40)}`);
    expect(stdout).toMatch(/\nExamples?:\n( {2}\$ .*gdn .*\n)+$/);
    for (const { description, flags } of command.options) expect(description, flags).toMatch(/^[a-z$].*[^.]$/);
    for (const each of command.registeredArguments) expect(each.description, each.name()).toMatch(/^[a-z].*[^.]$/);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  test.each(named(commands))('gdn %s --help fits', async (_name, { path }) => {
    for (const columns of [undefined, 300, 60, 40]) {
      const { stdout } = await runCaptured([...path, '--help'], { columns });
      // Examples stay whole, because people copy them.
      const words = stdout.replaceAll(/^ {2}\$ .*\n/gm, '');
      expect(longestLine(words), stdout).toBeLessThanOrEqual(Math.min(columns ?? 100, 100));
    }
  });

  test.each(named(commands.filter(({ command }) => command.commands.length === 0)))(
    'gdn %s takes --json and --state-root',
    (_name, { command }) => {
      expect(command.options.map(({ long }) => long)).toEqual(expect.arrayContaining(['--json', '--state-root']));
    },
  );

  test.each(named(commands))('the examples of gdn %s use existing options', async (_name, { path }) => {
    const { stdout } = await runCaptured([...path, '--help']);
    const lines = stdout.match(/(?<=^ {2}\$ ).*$/gm) ?? [];
    expect(lines).not.toBeEmpty();
    for (const typed of lines.flatMap((line) => line.match(/gdn [^|&;]*/g) ?? [])) {
      // Arguments after ` -- ` belong to another program.
      const words = (typed.split(' -- ')[0] ?? '').split(' ').slice(1);
      const used = commands.findLast((each) => each.path.every((word, index) => words[index] === word));
      const flags = used?.command.options.flatMap(({ long, short }) => [long, short]) ?? [];
      expect(used, typed).toBeDefined();
      expect(words.filter((word) => /^-./.test(word) && !flags.includes(word))).toEqual([]);
    }
  });

  test.each([
    [
      ['approve', 'x', '--reason', 'y'],
      '--reason',
      'A reason belongs to `gdn deny`. A note for the record is `--note`.',
    ],
    [
      ['approve', 'x', '--reason=y'],
      '--reason=y',
      'A reason belongs to `gdn deny`. A note for the record is `--note`.',
    ],
    [['deny', 'x', '--note', 'y'], '--note', 'The words of a denial are its `--reason`.'],
  ])('gdn %j names the option that people mean', async (args, flag, instead) => {
    const { stderr, exitCode } = await runCaptured(args);
    expect({ stderr, exitCode }).toEqual({
      stderr: `E_USAGE: unknown option '${flag}'\n${instead} \`gdn ${args[0]} --help\` shows the arguments and options.\n`,
      exitCode: 2,
    });
  });

  test.each([
    [['--help'], 'Usage: gdn [options] [command]\n'],
    [['help'], 'Usage: gdn [options] [command]\n'],
    [['help', 'run'], 'Usage: gdn run [options] [folder]\n'],
    [['help', 'instance'], 'Usage: gdn instance [options] [command]\n'],
    [['help', 'instance', 'show'], 'Usage: gdn instance show [options] [agent] [instance]\n'],
    [['instance', '--help'], 'Usage: gdn instance [options] [command]\n'],
    [['run', '--input', 'x', '--help'], 'Usage: gdn run [options] [folder]\n'],
  ])('%p prints the requested help', async (args, beginning) => {
    const { stdout, stderr, exitCode } = await runCaptured(args);
    expect(stdout).toStartWith(beginning);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  test('help lists the commands in groups by purpose, none outside a group', async () => {
    const { stdout } = await runCaptured(['--help']);
    const [, ...groups] = stdout.split(/^(?=Get started:|Exit codes:)/m)[1]?.split(/^(\S.*):$/m) ?? [];
    const headings = groups.filter((_, index) => index % 2 === 0);
    expect(headings).toEqual([
      'Get started',
      'Write a bundle',
      'Run a swarm',
      'Watch swarms',
      'Read and change conversations',
    ]);
    const listed = groups.flatMap((text, index) => (index % 2 === 0 ? [] : (text.match(/(?<=^ {2})[a-z]+/gm) ?? [])));
    const known = commands.filter(({ path }) => path.length === 1).map(({ path }) => path.join());
    expect(listed.toSorted()).toEqual([...known, 'help'].toSorted());
  });

  test('help explains every exit code', async () => {
    const { stdout } = await runCaptured(['--help']);
    const explained: readonly string[] = stdout.split('\nExit codes:\n')[1]?.match(/(?<=^ {2})\d+(?= +\w)/gm) ?? [];
    expect(explained).toEqual(Object.values(exitCodes).map(String));
  });

  test('help of a group of commands lists help among its commands', async () => {
    const { stdout } = await runCaptured(['instance', '--help']);
    expect(stdout).not.toContain('Get started:');
    expect(stdout).toMatch(/\nCommands:\n( {2}.*\n)+? {2}help \[command\]/);
  });

  test('in a narrow terminal, a description is below its term', async () => {
    const { stdout } = await runCaptured(['status', '--help'], { columns: 40 });
    expect(stdout).toContain('\n  --json\n      print JSON instead of text\n');
    const { stdout: deploy } = await runCaptured(['deploy', '--help'], { columns: 40 });
    expect(deploy).toContain('\n  $ gdn deploy my-swarm --store postgres://gdn@db.example/gdn\n');
  });

  test('required options are marked', async () => {
    expect((await runCaptured(['send', '--help'])).stdout).toMatch(/^ {2}--input <text> .*\(needed\)$/m);
  });
});

function longestLine(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}
