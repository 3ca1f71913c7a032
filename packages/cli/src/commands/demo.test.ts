// Tests `gdn demo` with its swarm, in real processes where signals and terminals matter. If the demo left files behind,
// they would be in the folder of the test's `place`.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TurnTrace } from '@goondan/runtime/history';
import { hasPart, works } from '../../../../test/parts.ts';
import { readCodeBlocks, repository } from '../../../../test/read-repository.ts';
import { samples, testInProof } from '../../../../test/samples.ts';
import type { DemoRun } from '../demo/run-demo.ts';
import { promptOf } from '../question/wording.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { until } from '../../../../test/until.ts';

// This timeout is long, because each test starts three processes on a machine that may be busy.
setDefaultTimeout(60_000);

const answer = 'Seoul, the next 3 days: 12 °C, 14 °C, 11 °C.';
const hint = '\nMake it yours: gdn init my-swarm --template demo\n';
const escape = '\x1b';
/** The scripted model repeats this input, which takes a minute. */
const longInput = 'word '.repeat(3_000);
const book = ['demo', '--input', 'Book a picnic in Lisbon'];

let place: GdnPlace;
let temporary: string;
beforeEach(() => {
  place = new GdnPlace();
  temporary = join(place.folder, 'tmp');
  mkdirSync(temporary);
});
// After each test, no process, folder or conversation may be left, but `goondan-0` of long paths.
afterEach(async () => {
  const names = [...readdirSync(temporary), ...readdirSync(place.folder)];
  const folders = names.filter((name) => !/^goondan-\d+$/.test(name));
  expect({ processes: await place.remove(), folders }).toEqual({ processes: [], folders: ['tmp'] });
});

const gdn = (...args: string[]) => place.runWith({ env: { TMPDIR: temporary } }, ...args);
const start = (...args: string[]) => place.startWith({ env: { TMPDIR: temporary } }, ...args);

function gdnOnTerminal(args: string[], typing: { whenSeen: string; keys: string }[] = [], env = {}) {
  return place.runOnTerminal(args, typing, { env: { TMPDIR: temporary, ...env } });
}

describe('gdn demo', () => {
  test('--json prints one object and nothing else, with the turn of the called agent inside its call', async () => {
    const { stdout, stderr, exitCode } = await gdn('demo', '--json');
    const { trace, ...report } = JSON.parse(stdout) as DemoRun;
    expect(report).toEqual({
      agent: 'concierge',
      instanceKey: 'default',
      turnId: expect.stringMatching(/^turn-event-./),
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      response: answer,
      finishReason: 'text_response',
      steps: 2,
      usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number), totalTokens: expect.any(Number) },
      called: { inputTokens: 118, outputTokens: 23, totalTokens: 141 },
    });
    expect(trace).toMatchObject({
      kind: 'turn',
      label: 'concierge',
      layers: [{ extension: 'memory', emitted: ['append system memory.visits'] }],
      inside: [{ kind: 'step' }, { kind: 'step' }],
    });
    const [called] = trace?.inside[0]?.inside.flatMap((chain): readonly TurnTrace[] => chain.called) ?? [];
    expect(called).toMatchObject({ agentName: 'forecaster', traceId: report.traceId, finishReason: 'text_response' });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  // Removes the network, where the system allows it.
  const offline = ['unshare', '--map-root-user', '--net'];
  const isApart = hasPart('network namespaces', works([...offline, 'true']), '`unshare --net` does not work here');
  const launcher = join(import.meta.dir, '..', '..', 'bin', 'gdn.cjs');
  const without = isApart ? 'network, state root' : 'state root';
  test(`prints the question, the answer, and the onion trace of two agents with the changes of each layer, as docs/demo.md shows; needs no ${without} or key; no colour in a pipe, also in CI`, async () => {
    const env = { TMPDIR: temporary, GOONDAN_STATE_ROOT: '/dev/null', ANTHROPIC_API_KEY: 'none', CI: 'true' };
    const child = Bun.spawn([...(isApart ? offline : []), 'node', launcher, 'demo'], {
      cwd: place.folder,
      env: { ...process.env, ...env },
      stderr: 'pipe',
    });
    const [stdout, stderr, exitCode] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect(stdout).not.toContain(escape);
    expect({ stderr, exitCode }).toEqual({ stderr: hint, exitCode: 0 });
    const [shown = ''] = readCodeBlocks(readFileSync(join(repository, 'docs/demo.md'), 'utf8'), 'text gdn demo');
    expect(shown.split('\n').map(withoutTimes)).toEqual(stdout.trimEnd().split('\n').map(withoutTimes));
  });

  testInProof('GOONDAN_TRACE=off: only the answer, and the reason', async () => {
    const env = { TMPDIR: temporary, GOONDAN_TRACE: 'off' };
    const { stdout, stderr, exitCode } = await place.runWith({ env }, 'demo', '--input', 'Hello');
    expect(stdout).toMatch(/^You    Hello\nAgent  You said: Hello\. .+\n$/);
    expect(stderr).toContain('\nNothing was recorded of it: GOONDAN_TRACE is off.\n');
    expect(exitCode).toBe(0);
  });

  testInProof('without a temporary folder: names the problem, exit 3', async () => {
    const env = { TMPDIR: join(place.folder, 'nowhere') };
    const { stdout, stderr, exitCode } = await place.runWith({ env }, 'demo', '--json');
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'E_STATE_ROOT', message: expect.stringContaining(env.TMPDIR) },
    });
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
  });
});

describe('gdn demo asks a person before it books', () => {
  const question = promptOf({ kind: 'call' });

  test('asks with the words of the chat; yes: the picnic is booked; the terminal shows colours, and the answer word by word', async () => {
    const typing = [{ whenSeen: question, keys: 'y\r' }];
    const { screen, exitCode, pieces } = await gdnOnTerminal(book, typing, { NO_COLOR: '' });
    expect(screen).toContain('{"city":"Lisbon"}');
    expect(screen).toContain('concierge (default) ');
    expect(screen).toContain('wants to run picnic__book');
    expect(screen).toContain('It is booked in your name.');
    const booked = 'A picnic in Lisbon is booked. Bring friends.';
    expect(screen).toContain(`\n${escape}[1mAgent${escape}[22m  ${booked}\n`);
    const words = `${escape}[33mThis is the user's visit number 1.${escape}[39m`;
    expect(screen).toContain(`${escape}[33m+ append system:${escape}[39m ${words}`);
    expect(screen).toMatch(/approval · approval\S* \S*own [\d.]+ ms, waited for a person [\d.]+ m?s/);
    // Even on a busy machine, the answer is streamed in several pieces.
    expect(pieces.filter((piece) => piece.includes(booked))).toEqual([]);
    expect(exitCode).toBe(0);
  });

  test('without a person to ask, the call is denied at once', async () => {
    const { stdout, stderr, exitCode } = await gdn(...book);
    expect(stderr).toStartWith('A tool call needs an answer, but no person can be asked, so it is denied:\n');
    expect(stderr).toContain('{"city":"Lisbon"}');
    expect(stdout).toContain(
      '\nAgent  A person denied this call of "picnic__book". They say: No person can be asked here',
    );
    expect(stdout).toContain('⊘ did not call next()');
    expect(stdout).not.toContain('is booked.');
    expect(exitCode).toBe(0);
  });

  testInProof('Ctrl-C at the question cancels the turn', async () => {
    const { screen, exitCode } = await gdnOnTerminal(book, [{ whenSeen: question, keys: '\x03' }]);
    expect(screen).toContain('\nE_CANCELLED: ');
    expect(exitCode).toBe(130);
  });
});

describe('gdn demo, cancelled', () => {
  test('Ctrl-C cancels the turn: E_CANCELLED, exit 130', async () => {
    const typing = [{ whenSeen: 'Agent  You said: word word ', keys: '\x03' }];
    const { screen, exitCode } = await gdnOnTerminal(['demo', '--input', longInput], typing);
    expect(screen).toContain('\nE_CANCELLED: The turn was cancelled');
    // The cancelled turn ended in the normal way, so its trace was written.
    expect(screen).toContain('│ ✗ E_CANCELLED');
    expect(screen).not.toContain(hint);
    expect(exitCode).toBe(130);
  });

  // The other tests here cancel with SIGINT and SIGTERM.
  const signals = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;
  test.each(signals.slice(0, samples(signals.length)))(
    '%s without a terminal does the same; --json is an object, too, with the error in it',
    async (signal) => {
      const child = start('demo', '--json', '--input', longInput);
      await turnBegun();
      child.kill(signal);
      expect(JSON.parse(await child.stdout.text())).toMatchObject({
        agent: 'concierge',
        response: '',
        finishReason: 'error',
        error: { code: 'E_CANCELLED' },
        trace: { kind: 'turn', label: 'concierge' },
      });
      expect(JSON.parse(await child.stderr.text())).toMatchObject({ error: { code: 'E_CANCELLED' } });
      expect(await child.exited).toBe(130);
    },
  );

  testInProof('twice: it quits without waiting, and still leaves nothing', async () => {
    const child = start('demo', '--input', longInput);
    await turnBegun();
    child.kill('SIGINT');
    child.kill('SIGTERM');
    expect(await child.exited).toBe(130);
  });

  testInProof('a reader that closes the pipe early', async () => {
    const child = start('demo', '--input', 'Hello');
    const reader = child.stdout.getReader();
    await reader.read();
    await reader.cancel();
    expect(await child.exited).toBe(0);
  });
});

/** Resolves when the turn has written a trace. */
async function turnBegun(): Promise<void> {
  const isTrace = (path: string) => path.endsWith('/traces/traces.000001.jsonl');
  await until(() => readdirSync(temporary, { recursive: true, encoding: 'utf8' }).some(isTrace));
}

function withoutTimes(line: string): string {
  return line.replace(/\d+(\.\d+)? m?s(?=$|[ ,])/, 'N ms');
}
