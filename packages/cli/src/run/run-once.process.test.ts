// Tests in real processes what `gdn run --input` owns, beside services and other runs.
import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { outputOf, openPlace } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { until } from '../../../../test/until.ts';

const place = openPlace();

const script = `- { when: '^mark (?<what>.+)', call: { tool: marker__add, args: { what: '{{what}}' } } }
- { afterTool: marker__add, say: 'Marked.' }
- { say: 'You said: {{input}}' }`;

/** The tool of `mark X` writes `X` to the file `marks`, and ends when the file `open-X` exists. */
async function writeMarker(graceSeconds = 30, more: Parameters<typeof sampleBundle>[0] = {}): Promise<void> {
  const tool = `kind: Tool
metadata: { name: marker }
spec:
  entry: ./marker.ts
  exports:
    - name: add
      description: Marks.
      parameters: { type: object, properties: { what: { type: string } }, required: [what] }`;
  const yaml = sampleBundle({
    script,
    agent: 'tools: [Tool/marker]',
    swarm: `policy: { spares: 0, shutdown: { gracePeriodSeconds: ${graceSeconds} } }`,
    more: tool,
    ...more,
  });
  const module = `import { appendFileSync, existsSync } from 'node:fs';
    export const handlers = {
      async add(_ctx, { what }) {
        appendFileSync(${JSON.stringify(file('marks'))}, what + '\\n');
        while (!existsSync(${JSON.stringify(file('open-'))} + what)) await Bun.sleep(10);
        return what;
      },
    };`;
  await place.write('bundle', { 'goondan.yaml': yaml, 'marker.ts': module });
}

const file = (name: string) => join(place.folder, name);
const open = (what: string) => place.write('.', { [`open-${what}`]: '' });
const marks = () =>
  existsSync(file('marks')) ? readFileSync(file('marks'), 'utf8').trim().split('\n').toSorted() : [];
const runInput = (input: string, key = 'default') =>
  place.start('run', 'bundle', '--trust', '--input', input, '--instance', key);
const status = async () => JSON.parse((await place.run('status', '--bundle', 'bundle', '--json')).stdout);

/** Starts a run whose turn is in the middle of its tool call. */
async function beginMark(what: string, key?: string) {
  const before = marks().length;
  const child = runInput(`mark ${what}`, key);
  await until(() => marks().length > before);
  return child;
}

const answerOf = async (child: ReturnType<typeof runInput>) => ({
  stdout: await child.stdout.text(),
  stderr: await child.stderr.text(),
  exitCode: await child.exited,
});
const marked = { stdout: 'Marked.\n', stderr: '', exitCode: 0 };

/** Reads a stream piece by piece; `rest` reads it to its end. */
function readerOf(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = '';
  const read = async () => {
    const { value, done } = await reader.read();
    text += decoder.decode(value);
    return done;
  };
  return {
    async including(part: string): Promise<string> {
      while (!text.includes(part)) if (await read()) throw new Error(`Ended without ${part}: ${text}`);
      return text;
    },
    async rest(): Promise<string> {
      while (!(await read()));
      return text;
    },
  };
}

describe('a service that starts during a run', () => {
  test('waits for its turn, and then serves; the run prints its answer', async () => {
    await writeMarker();
    const shot = await beginMark('a');
    expect(await status()).toMatchObject({ pid: shot.pid, oneShot: true });
    const service = place.start('run', 'bundle', '--trust', '--json');
    const said = readerOf(service.stderr);
    await said.including(`in process ${shot.pid}, `);
    await open('a');
    expect(await answerOf(shot)).toEqual(marked);
    const served = JSON.parse(await readerOf(service.stdout).including('}'));
    expect(await status()).toMatchObject({ running: true, pid: served.pid });
    expect(await status()).not.toHaveProperty('oneShot');
    expect(served.pid).toBe(service.pid);
    service.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    expect(marks()).toEqual(['a']);
  });

  test('R-07 continues a turn that does not end within the grace; the run gets its answer, and no tool call runs twice', async () => {
    await writeMarker(0);
    const shot = await beginMark('a');
    const detached = place.start('run', 'bundle', '--trust', '--detach');
    const said = readerOf(detached.stderr);
    await said.including(`in process ${shot.pid}, `);
    expect(await detached.exited).toBe(0);
    const printed = await said.rest();
    expect(printed).not.toContain('Already runs');
    expect(printed).toContain('Runs in the background: ');
    expect(await answerOf(shot)).toEqual(marked);
    const { pid, oneShot } = await status();
    expect([pid === shot.pid, oneShot]).toEqual([false, undefined]);
    expect(marks()).toEqual(['a']);
    const again = await place.run('run', 'bundle', '--trust', '--detach');
    expect(again.stderr).toStartWith(`Already runs: swarm "default", process ${pid}. `);
    outputOf(await place.run('stop', '--bundle', 'bundle'));
  });

  test('SIGTERM while it waits ends it with 0, and not the run', async () => {
    await writeMarker();
    const shot = await beginMark('a');
    const service = place.start('run', 'bundle', '--trust');
    await readerOf(service.stderr).including(`in process ${shot.pid}, `);
    service.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    await open('a');
    expect(await answerOf(shot)).toEqual(marked);
  });
});

test('a chat that starts during a run replaces its swarm, too', async () => {
  await writeMarker();
  const shot = await beginMark('a');
  const typing = [
    { whenSeen: `in process ${shot.pid}, `, onSeen: () => void open('a') },
    { whenSeen: '/help lists', onSeen: (type: (keys: string) => void) => void answered.then(() => type('/quit\r')) },
  ];
  const answered = answerOf(shot);
  const chat = await place.runOnTerminal(['run', 'bundle', '--trust'], typing);
  expect([await answered, chat.exitCode]).toEqual([marked, 0]);
  expect(chat.screen).not.toContain('already running');
});

test('four runs beside a service that starts twice: every input is answered once, and the service is up', async () => {
  await writeMarker();
  const shots: ReturnType<typeof runInput>[] = [];
  for (const [first, second] of [
    ['a', 'b'],
    ['c', 'd'],
  ] as const) {
    shots.push(await beginMark(first, first));
    const started = place.runProcess('run', 'bundle', '--trust', '--detach', '--json');
    await Promise.all([open(first), open(second)]);
    shots.push(runInput(`mark ${second}`, second));
    const { stdout, exitCode } = await started;
    expect(exitCode).toBe(0);
    const { pid } = JSON.parse(stdout);
    expect((await status()).pid).toBe(pid);
    expect(shots.map((shot) => shot.pid)).not.toContain(pid);
    expect((await place.run('stop', '--bundle', 'bundle')).exitCode).toBe(0);
  }
  expect(await Promise.all(shots.map(answerOf))).toEqual([marked, marked, marked, marked]);
  expect(marks()).toEqual(['a', 'b', 'c', 'd']);
});

test('a run in the swarm of another run goes on by itself when that one ends', async () => {
  await writeMarker(0);
  const first = await beginMark('a', 'a');
  const second = await beginMark('b', 'b');
  expect((await status()).pid).toBe(first.pid);
  await open('a');
  // The first run waits for the second, whose turn could be its own work; it is not asked to stop.
  expect(await first.stdout.text()).toBe('Marked.\n');
  expect(await answerOf(second)).toEqual(marked);
  expect(marks()).toEqual(['a', 'b']);
});

test('`gdn stop` ends a run: it says that the turn goes on later', async () => {
  await writeMarker();
  const shot = await beginMark('a');
  outputOf(await place.run('stop', '--bundle', 'bundle', '--grace', '0'));
  const { stderr, exitCode } = await answerOf(shot);
  expect([stderr.split(':')[0], exitCode]).toEqual(['E_SWARM_STOPPED', 1]);
});
