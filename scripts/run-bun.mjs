#!/usr/bin/env node
/**
 * `npm test`: runs the suite on the Bun that npm installed and prints a summary for CI as the last line of standard
 * output: `12 passed, 0 failed`.
 *
 * 1. All output of Bun is passed on unchanged.
 * 2. The exit code is Bun's. But a run without tests, or without a summary, counts as failed.
 * 3. The errors of the failed tests are printed again just before the summary, so that the end of a CI log shows them,
 *    each with the command that repeats the test with the same random samples.
 */
import { spawn } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { findBun } from '../packages/runtime/bin/find-bun.cjs';
import { collectLooseErrors, describeFailures, readFailures } from './failed-tests.mjs';
import { engineSettings, testFlags } from './engine-settings.mjs';

const repository = fileURLToPath(new URL('..', import.meta.url));

// Four test files run at a time, because many tests wait for processes; more would delay tests that have deadlines. Each
// of the four processes loads a module once for all its test files. The slow test files start first, slowest first, so
// that no slow file is left at the end. `npm test -- --update-timings` writes the list of these files.
const flags = [...testFlags, '--no-isolate', '--parallel=4', '--timings=test/timings.json', '--timeout=30000'];
// Excludes the scratch folder of this checkout, which git ignores as well. Bun itself skips `node_modules`.
const notOurs = '--path-ignore-patterns=tmp/**';

runTests(...process.argv.slice(2));

function runTests(command, ...extra) {
  if (command !== 'test') fail('Usage: node scripts/run-bun.mjs test [arguments of bun test]', 2);
  const bun = findBun();
  if (bun === undefined) fail('Bun is not installed. Run `npm ci` without `--omit=optional`.', 3);

  // The child does not get a developer's certificates. No test needs them, and each Node process would take 50 ms to
  // read them.
  const { NODE_EXTRA_CA_CERTS: _certificates, ...inherited } = process.env;
  // The TypeScript compiler, a Go program, collects no garbage before it uses a gigabyte.
  // Test processes share what they start under the name of the run: its process, and a word of its own.
  const name = randomUUID();
  const seed = process.env['GOONDAN_SEED'] ?? String(randomInt(2 ** 31));
  const run = { GOONDAN_TEST_RUN: `${process.pid}-${name.slice(0, 8)}`, GOONDAN_SEED: seed };
  // `npm run proof` runs the tests with the engine's own settings.
  const engine = process.env['GOONDAN_SAMPLES'] === 'all' ? {} : engineSettings;
  const env = { GOGC: 'off', GOMEMLIMIT: '1GiB', ...engine, ...inherited, ...run };
  const report = join(tmpdir(), `gdn-junit-${name}.xml`);
  const reporter = ['--reporter=junit', `--reporter-outfile=${report}`];
  const child = spawn(bun, ['test', ...flags, notOurs, ...reporter, ...extra], {
    cwd: repository,
    env,
    stdio: ['inherit', 'pipe', 'pipe'],
  });
  child.stdout.pipe(process.stdout, { end: false });
  child.stderr.pipe(process.stderr, { end: false });

  let ending = '';
  child.stderr.on('data', (piece) => {
    ending = (ending + piece).slice(-4000);
  });
  const looseErrors = [];
  createInterface({ input: child.stderr }).on('line', collectLooseErrors(looseErrors));
  child.on('error', (error) => fail(`Bun cannot be started: ${error.message}`, 3));
  child.on('close', (code) => {
    process.stdout.write(describeFailures([...looseErrors, ...takeReport(report)], seed));
    close(readSummary(ending), code ?? 1);
  });
}

/** Removes the report and returns its failures; none when Bun ended before it wrote the report. */
function takeReport(report) {
  try {
    const failures = readFailures(readFileSync(report, 'utf8'));
    rmSync(report);
    return failures;
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Returns Bun's counts; undefined when Bun printed no summary. */
function readSummary(ending) {
  // oxlint-disable-next-line no-control-regex -- colours are control characters
  const lines = ending.replaceAll(/\x1b\[[\d;]*m/g, '').split('\n');
  const last = lines.findLastIndex((line) => /^Ran \d+ tests? across \d+ files?\./.test(line));
  if (last === -1) return undefined;

  const counts = { pass: 0, fail: 0, skip: 0, todo: 0 };
  // Reads upwards to the start of the summary, because a test may have printed similar lines above it.
  for (let index = last - 1; index >= 0; index -= 1) {
    const [line, count, noun] = /^ *(?:(\d+) ([a-z]+)|snapshots: )/.exec(lines[index]) ?? [];
    if (line === undefined) break;
    if (noun in counts) counts[noun] = Number(count);
  }
  return counts;
}

function close(summary, code) {
  if (summary === undefined) {
    process.stderr.write(
      `\nThe run ended without a summary (exit code ${code}): no test matched, or something ended the run, such as process.exit in a test.\n`,
    );
    return end('0 passed, 1 failed', code || 1);
  }
  const { pass, fail: failed, skip, todo } = summary;
  const skipped = skip + todo;
  const ranNone = pass + failed === 0;
  if (ranNone) process.stderr.write('\nNo test ran.\n');
  return end(
    `${pass} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    ranNone ? code || 1 : code,
  );
}

function end(line, code) {
  process.stdout.write(`${line}\n`);
  process.exitCode = code;
}

function fail(message, code) {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
