// Completes command lines in real shells: always in bash, and in fish and zsh if they are installed.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allCommands, runCaptured } from '../testing/run-captured.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gdn-completion-')));
afterAll(() => rmSync(folder, { recursive: true }));

beforeAll(async () => {
  mkdirSync(join(folder, 'here/my swarm'), { recursive: true });
  writeFileSync(join(folder, 'here/my file'), '');
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, stderr, exitCode } = await runCaptured(['completion', shell]);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    writeFileSync(join(folder, shell), stdout);
  }
});

/** The last word of each line is completed; the suggestions are sorted. */
const lines: readonly (readonly [line: readonly string[], suggestions: readonly string[]])[] = [
  [['re'], ['reload', 'replay', 'restart', 'restore']],
  [
    ['instance', ''],
    ['delete', 'export', 'help', 'list', 'show'],
  ],
  [['help', 'instance', 'd'], ['delete']],
  [['logs', '--le'], ['--level']],
  [
    ['logs', '--level', ''],
    ['debug', 'error', 'info', 'warn'],
  ],
  [['logs', '--agent', ''], []],
  [
    ['completion', ''],
    ['bash', 'fish', 'zsh'],
  ],
  [['run', '--agent', 'stop', '--de'], ['--detach']],
];

const paths: readonly (readonly [line: readonly string[], suggestions: readonly string[]])[] = [
  [['run', 'my'], ['my swarm']],
  [['backup', 'my'], ['my swarm']],
  [['status', '--bundle', 'my'], ['my swarm']],
  [
    ['instance', 'export', '--output', 'my'],
    ['my file', 'my swarm'],
  ],
  [
    ['mcp', 'add', 'files', '--', 'my'],
    ['my file', 'my swarm'],
  ],
];

describe('F-26 completion', () => {
  test('bash completes commands, options, values and folders', () => {
    for (const [line, suggestions] of [...lines, ...paths]) {
      expect(runShell('bash', bashProgram, line).toSorted(), line.join(' ')).toEqual([...suggestions]);
    }
  });

  test('bash knows every command and every option', () => {
    for (const { path, command } of allCommands()) {
      const options = command.options.flatMap(({ long, short }) => [
        long ?? '',
        ...(short === undefined ? [] : [short]),
      ]);
      expect(runShell('bash', bashProgram, [...path, '-']).toSorted(), path.join(' ')).toEqual(
        [...options, '--help', '-h'].toSorted(),
      );
    }
  });

  const others = ['fish', 'zsh'].filter((shell) => Bun.which(shell) !== null);
  test.each(others)('%s completes commands, options and values', (shell) => {
    for (const [line, suggestions] of lines) {
      const program = shell === 'fish' ? fishProgram : zshProgram;
      const shown = runShell(shell, program, line).map((each) => each.split('\t')[0] ?? '');
      expect(shown.toSorted(), line.join(' ')).toEqual([...suggestions]);
    }
  });

  test('an unknown shell is refused with the known ones; --json wraps the script', async () => {
    const { stderr, exitCode } = await runCaptured(['completion', 'tcsh']);
    expect(stderr).toContain('Allowed choices are bash, zsh, fish.');
    expect(exitCode).toBe(2);
    const { stdout } = await runCaptured(['completion', 'bash', '--json']);
    expect(JSON.parse(stdout)).toEqual({ shell: 'bash', script: expect.stringContaining('complete -F _gdn gdn') });
  });
});

function runShell(shell: string, program: string, line: readonly string[]): string[] {
  const { stdout, stderr } = Bun.spawnSync([shell, '-c', program, join(folder, shell), 'gdn', ...line], {
    cwd: join(folder, 'here'),
    env: { ...process.env, HOME: folder },
  });
  expect(stderr.toString()).toBe('');
  return stdout.toString().split('\n').filter(Boolean);
}

/** Calls the function as bash does when a person presses Tab. */
const bashProgram = `source "$0"
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_gdn
printf '%s\\n' "\${COMPREPLY[@]}"`;

const fishProgram = `source $argv[1]
complete -C (string join -- ' ' $argv[2..-1])`;

/** Replaces the functions of the completion system by functions that print, because it works only at a terminal. */
const zshProgram = `compdef() { : }
_files() { : }
compadd() { shift; for each in "$@"; do [[ $each == \${words[CURRENT]}* ]] && print -r -- "$each"; done }
_describe() { for each in "\${(@P)\${@[-1]}}"; do each="\${each%%:*}"; [[ $each == \${words[CURRENT]}* ]] && print -r -- "$each"; done }
source "$0"
words=("$@")
CURRENT=$#
_gdn
true`;
