// Follows a page of the documentation as a reader would: writes its files, types its commands, and compares the output.
import { expect } from 'bun:test';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GdnPlace } from '../packages/cli/src/testing/gdn-place.ts';
import { readRepository, repository } from './read-repository.ts';
import { sampleStep } from './samples.ts';
import { until } from './until.ts';

const launcher = join(repository, 'packages/cli/bin/gdn.cjs');
const noKeys = { ANTHROPIC_API_KEY: '', OPENAI_API_KEY: '', GOOGLE_GENERATIVE_AI_API_KEY: '' };

/**
 * Follows the page. If `isReal` is true, `gdn` runs through the launcher in a shell; otherwise a plain `gdn` command
 * runs in this process.
 */
export async function followPage(path: string, place: GdnPlace, { isReal = false } = {}): Promise<void> {
  const steps = stepsOf(path);
  let said = '';
  for (const step of steps) {
    if (step.does === 'write' || step.does === 'change') {
      await edit(path, step, place);
    } else if (step.does === 'read') {
      expect(withoutChance(said)).toBe(withoutChance(step.text));
    } else {
      const enter = !isReal && isPlain(step.command) ? run : type;
      const { stdout, stderr, exitCode } = await until(
        async () => {
          const ended = await enter(step.command, place);
          // A trace is written a moment after the answer, and a test types faster than a person.
          return !ended.stderr.startsWith('E_TRACE_UNKNOWN: There are no recorded turns.') && ended;
        },
        { about: step.command },
      );
      // A command that started a swarm succeeds even if a connection cannot listen; the next command would only see that.
      const isFine = exitCode === 0 && !stderr.includes('does not listen yet');
      expect({ command: step.command, exitCode, stderr: isFine ? '' : stderr }).toEqual({
        command: step.command,
        exitCode: 0,
        stderr: '',
      });
      said = stdout;
    }
  }
}

/**
 * Reads the page without starting a swarm: writes its files as they are in the repository, makes its new bundles, and
 * expects every bundle that it runs to be without errors at that point.
 */
export async function readPage(path: string, place: GdnPlace): Promise<void> {
  for (const step of stepsOf(path)) {
    if (step.does === 'write' || step.does === 'change') await edit(path, step, place);
    if (step.does !== 'type') continue;
    const [, program] = /^chmod \+x (\S+)$/.exec(step.command) ?? [];
    if (program !== undefined) chmodSync(join(place.folder, program), 0o755);
    const [, bundle] = /\bgdn run ([\w-]+)/.exec(step.command) ?? [];
    const command = bundle === undefined ? step.command : `gdn validate ${bundle}`;
    if (!/^gdn (?:init|validate|explain) /.test(command)) continue;
    expect(await run(command, place), `${path}: ${step.command}`).toMatchObject({ exitCode: 0 });
  }
}

function stepsOf(path: string): Step[] {
  const steps = readSteps(readRepository(path)[0]?.text ?? '');
  expect(steps.filter(({ does }) => does === 'type')).not.toBeEmpty();
  return steps;
}

/** Writes or changes the file of a step. */
async function edit(path: string, step: WriteStep | ChangeStep, place: GdnPlace): Promise<void> {
  if (step.does === 'write') {
    expect(readRepository(step.source)[0]?.text, `${path}: ${step.source}`).toBe(step.text);
    await place.write('.', { [step.file]: step.text });
  } else {
    await place.write('.', { [step.file]: change(readFileSync(join(place.folder, step.file), 'utf8'), step) });
  }
}

/** A code block that names its source file in this repository and the file that the reader writes. */
interface WriteStep {
  readonly does: 'write';
  readonly source: string;
  readonly file: string;
  readonly text: string;
}

/** Changes to a file of the reader. Lines with a minus are removed, and lines with a plus are added. */
interface ChangeStep {
  readonly does: 'change';
  readonly file: string;
  readonly before: string;
  readonly after: string;
}

type Step =
  | { readonly does: 'type'; readonly command: string }
  | WriteStep
  | ChangeStep
  /** The expected output of the last command. */
  | { readonly does: 'read'; readonly text: string };

export function readSteps(page: string): Step[] {
  return [...page.matchAll(/^```(.*)\n([\s\S]*?\n)```$/gm)].flatMap(([, info = '', text = '']): Step[] => {
    const [language, source, file] = info.split(' ');
    if (language === 'text') return [{ does: 'read', text }];
    if (language === 'diff') {
      const lines = text.trimEnd().split('\n');
      const without = (sign: string) => lines.flatMap((line) => (line.startsWith(sign) ? [] : [`${line.slice(1)}\n`]));
      return [{ does: 'change', file: source ?? '', before: without('+').join(''), after: without('-').join('') }];
    }
    if (language === 'sh')
      return text
        .trimEnd()
        .split('\n')
        .map((command) => ({ does: 'type', command }));
    return source === undefined || file === undefined ? [] : [{ does: 'write', source, file, text }];
  });
}

/** Tells whether the text is one `gdn` command whose arguments need no shell. */
function isPlain(command: string): boolean {
  return /^gdn [^|&;<>$`()]*$/.test(command);
}

async function run(command: string, place: GdnPlace) {
  const { stdout } = await inShell(`gdn() { printf '%s\\0' "$@"; }\n${command}`, place);
  return place.runWith({ env: noKeys }, ...stdout.split('\0').slice(0, -1));
}

function type(command: string, place: GdnPlace) {
  // `npx` starts npm, which only finds the program. In `npm test` the shell finds it.
  const npx = sampleStep === 1 ? '' : 'npx() { PATH="$PWD/node_modules/.bin:$PATH" "$@"; }';
  return inShell(`gdn() { node "$GDN_LAUNCHER" "$@"; }\n${npx}\n${command}`, place);
}

async function inShell(script: string, place: GdnPlace) {
  const child = Bun.spawn(['sh', '-c', script], {
    cwd: place.folder,
    env: { ...process.env, ...noKeys, GDN_LAUNCHER: launcher, GOONDAN_STATE_ROOT: place.stateRoot },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { stdout, stderr, exitCode };
}

export function change(text: string, { file, before, after }: { file: string; before: string; after: string }): string {
  const parts = text.split(before);
  if (parts.length !== 2) throw new Error(`${file} has the lines ${parts.length - 1} times: ${before}`);
  return parts.join(after);
}

/** Removes values that differ in every run: rolled numbers, times and ids of turns. */
function withoutChance(text: string): string {
  return text
    .replaceAll(/\w+day,? \d+ \w+ \d+ at [\d:]+/g, 'some day')
    .replaceAll(/rolled \d+/g, 'rolled a number')
    .replaceAll(/turn-event-[0-9a-f-]+|\bturn [0-9a-f]{8}[0-9a-f-]*/g, 'a turn')
    .replaceAll(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z| [\d:]+)/g, 'some time');
}
