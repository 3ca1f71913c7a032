// Tests the output of `gdn` for invalid bundles, in one process. (`mutated-bundles.test.ts` of the runtime loads a
// thousand more.)
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCatalogue } from '@goondan/types';
import { samples } from '../../../../test/samples.ts';
import { completeBundle, temporaryBundle } from '../../../runtime/src/testing/temporary-bundle.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Ended } from '../testing/gdn-place.ts';
import { runCaptured } from '../testing/run-captured.ts';

const TIMES = samples(120, 15);
const commands = ['explain', 'status', 'instance list', 'logs', 'stop', 'run --input x', 'reload'];
const files = ['goondan.yaml', 'agents.yaml', 'parts.yml'];

test('R-04 spoilt bundles: every command names the problem, with a code, and never shows a stack', async () => {
  using bundle = temporaryBundle(completeBundle);
  const ended = new Map<number, number>();
  const used = new Set<string>();
  for (let seed = 0; seed < TIMES; seed += 1) {
    for (const file of files) writeFileSync(join(bundle.folder, file), completeBundle[file] ?? '');
    const file = files[seed % files.length] ?? '';
    const scrap = scrapOf(seed);
    if (scrap !== undefined) used.add(scrap);
    writeFileSync(join(bundle.folder, file), spoil(completeBundle[file] ?? '', seed));
    const { exitCode } = await checkValidate(bundle.folder, seed);
    ended.set(exitCode, (ended.get(exitCode) ?? 0) + 1);
    const command = commands[seed % commands.length] ?? '';
    const place = ['--bundle', bundle.folder, '--state-root', join(bundle.folder, 'state')];
    const said = await runCaptured([...command.split(' '), ...place]);
    expect(findFaults(said), `${command}, seed ${seed}`).toEqual([]);
    expect([0, 3, 4]).toContain<number>(said.exitCode);
  }
  // Most of these bundles must be invalid; if every bundle were valid, the test would prove nothing.
  expect(ended.get(exitCodes.invalid)).toBeGreaterThan(TIMES / 2);
  expect(used.size).toBe(Math.min(scraps.length, TIMES));
}, 120_000);

async function checkValidate(folder: string, seed: number): Promise<Ended> {
  const text = await runCaptured(['validate', folder]);
  const json = await runCaptured(['validate', folder, '--json']);
  expect([...findFaults(text), ...findFaults(json)], `seed ${seed}`).toEqual([]);
  const { valid, errors, warnings }: Report = JSON.parse(json.stdout);
  const expected = valid ? exitCodes.ok : exitCodes.invalid;
  expect([text.exitCode, json.exitCode], `seed ${seed}`).toEqual([expected, expected]);
  expect([text.stderr, json.stderr], `seed ${seed}`).toEqual(['', '']);
  for (const { code, file, line, column } of errors) {
    expect(Object.keys(errorCatalogue)).toContain(code);
    expect(text.stdout).toContain(`${join(folder, file)}:${line}:${column} ${code} `);
  }
  for (const { code, file, line, column } of warnings) {
    expect(text.stdout).toContain(`${join(folder, file)}:${line}:${column} warning ${code} `);
  }
  return text;
}

interface Report {
  readonly valid: boolean;
  readonly errors: readonly Place[];
  readonly warnings: readonly Place[];
}

interface Place {
  readonly code: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

function findFaults({ stdout, stderr, exitCode }: Ended): string[] {
  const all = `${stdout}${stderr}`;
  const faults: string[] = [];
  if (/^\s+at .+:\d+:\d+\)?$/m.test(all)) faults.push(`a stack: ${all}`);
  if (/\bundefined\b|\[object |\bNaN\b/.test(all)) faults.push(`no words: ${all}`);
  if (/[\p{Cc}\p{Cf}]/u.test(all.replaceAll('\n', ''))) faults.push(`what a terminal obeys: ${JSON.stringify(all)}`);
  if (exitCode !== 0 && stdout === '' && !/^E_[A-Z_]+: .+\n.+$/m.test(stderr)) faults.push(`no code: ${all}`);
  return faults;
}

/** Inserts a scrap, or replaces, removes or repeats a piece of the text. */
function spoil(text: string, seed: number): string {
  const at = hash(seed, 1) % text.length;
  const length = 1 + (hash(seed, 2) % 30);
  const [before, piece, after] = [text.slice(0, at), text.slice(at, at + length), text.slice(at + length)];
  const scrap = scrapOf(seed);
  // From round to round, each scrap is inserted and replaces a piece in turn.
  const isOdd = (seed + Math.floor(roundOf(seed) / 2)) % 2 === 1;
  if (scrap === undefined) return before + (isOdd ? piece.repeat(9) : '') + after;
  return before + scrap + (isOdd ? '' : piece) + after;
}

/** Returns the scrap of this seed. A round uses every scrap once, and the next round uses none. */
function scrapOf(seed: number): string | undefined {
  return roundOf(seed) % 2 === 0 ? scraps[seed % scraps.length] : undefined;
}

function roundOf(seed: number): number {
  return Math.floor(seed / scraps.length);
}

const scraps = [
  '[',
  '{',
  '"',
  ': ',
  '- ',
  '&a ',
  '*a ',
  '!x ',
  '---\n',
  '\t',
  '|\n',
  '\u{0}',
  '\u{1B}[2J',
  '\u{202E}',
  '__proto__: 1\n',
  '\n  x: { y: [1] }\n',
];

function hash(seed: number, salt: number): number {
  return Number(Bun.hash(`${seed} ${salt}`) % 1_000_003n);
}
