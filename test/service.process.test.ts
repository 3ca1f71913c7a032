// Tests the service unit in docs/cli.md, started as systemd does: with a small environment, and stopped by a SIGTERM to
// `gdn` alone.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { dirname, join } from 'node:path';
import { createProgram } from '../packages/cli/src/create-program.ts';
import { exitCodes } from '../packages/cli/src/exit-codes.ts';
import { openTerminal } from '../packages/cli/src/terminal.ts';
import { GdnPlace } from '../packages/cli/src/testing/gdn-place.ts';
import { sampleBundle } from '../packages/cli/src/testing/sample-bundle.ts';
import { swarmSettings } from '../packages/runtime/src/orchestrator/plan/swarm-settings.ts';
import { readRepository, repository } from './read-repository.ts';
import { until } from './until.ts';

const launcher = join(repository, 'packages/cli/bin/gdn.cjs');
const [, unit = ''] = /```ini\n([\s\S]*?)```/.exec(readRepository('docs/cli.md')[0]?.text ?? '') ?? [];

let place: GdnPlace;
beforeEach(() => void (place = new GdnPlace()));
afterEach(async () => expect(await place.remove()).toEqual([]), 60_000);

describe('the unit of docs/cli.md', () => {
  test('is not started again after an error that a retry would not fix', () => {
    const { usage, setup, invalid } = exitCodes;
    expect(setting('RestartPreventExitStatus').split(' ').map(Number)).toEqual([usage, setup, invalid]);
  });

  test('waits longer than running turns may take', () => {
    expect(Number(setting('TimeoutStopSec')) * 1_000).toBeGreaterThan(swarmSettings({}).graceMs);
  });

  test('uses existing commands and options', () => {
    const silent = { write: () => undefined };
    const program = createProgram(openTerminal({ stdout: silent, stderr: silent, env: {} }), () => undefined);
    for (const name of ['ExecStart', 'ExecReload']) {
      const [command = '', ...words] = commandOf(name);
      const options = program.commands.find((each) => each.name() === command)?.options.map(({ long }) => long) ?? [];
      expect(words.filter((word) => word.startsWith('--') && !options.includes(word))).toEqual([]);
      expect(options).not.toBeEmpty();
    }
  });

  test('R-07 SIGTERM lets the running turn finish and exits with 0; the next start handles waiting inputs; a swarm that already runs: no second one, exit 3', async () => {
    await place.write('my-swarm', { 'goondan.yaml': sampleBundle(gate), 'gate.ts': gate.module(place.folder) });
    const first = start();
    await until(async () => (await status()).running);
    const send = (input: string) => gdn('send', '--input', input, '--id', input);
    for (const input of ['One', 'Two']) await send(input);
    await until(async () => (await status()).agents.some((each) => each.status === 'working'));
    first.kill('SIGTERM');
    // When the swarm accepts no more input, the signal has arrived. Before that, an input with the same id is only a
    // duplicate.
    await until(async () => (await send('One')).exitCode !== 0);
    await place.write('.', { open: 'Go on.' });
    expect(await first.exited).toBe(0);
    expect(await first.stderr.text()).not.toContain('error');
    expect(place.processes()).toEqual([]);
    expect(await texts()).toEqual(['One', 'You said: One']);

    const second = start();
    await until(async () => (await texts()).length === 4);
    const third = start();
    expect(await third.exited).toBe(exitCodes.setup);
    expect(await third.stderr.text()).toContain('E_SWARM_RUNNING');
    expect((await gdn('stop')).exitCode).toBe(0);
    expect(await second.exited).toBe(0);
    expect(await texts()).toEqual(['One', 'You said: One', 'Two', 'You said: Two']);
  }, 120_000);
});

/** An extension that lets turns of `host` wait until the file `open` exists. */
const gate = {
  agent: 'extensions: [Extension/gate]',
  more: 'kind: Extension\nmetadata: { name: gate }\nspec: { entry: ./gate.ts }',
  module: (folder: string) => `
    import { existsSync } from 'node:fs';
    export const register = (api) => {
      api.pipeline.register('turn', async (ctx) => {
        while (!existsSync(${JSON.stringify(join(folder, 'open'))})) await Bun.sleep(20);
        return ctx.next();
      });
    };`,
};

function setting(name: string): string {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? '';
}

/** Returns the arguments of `gdn` in the unit, with this test's home folder. */
function commandOf(name: string): string[] {
  const [, ...words] = setting(name).replaceAll('%h', place.folder).split(' ');
  return words;
}

/** Starts the command of the unit without a terminal and with only the unit's environment. */
function start() {
  return Bun.spawn(['node', launcher, ...commandOf('ExecStart')], {
    cwd: place.folder,
    env: { PATH: `${dirname(Bun.which('node') ?? '')}:/usr/bin:/bin`, HOME: place.folder },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

/** Runs a command of the person in this process: only the service itself is tested in its own process. */
function gdn(...args: string[]) {
  const env = { GOONDAN_STATE_ROOT: join(place.folder, '.goondan') };
  return place.runWith({ env }, ...args, '--bundle', join(place.folder, 'my-swarm'));
}

async function status(): Promise<{ running: boolean; agents: { status: string }[] }> {
  return JSON.parse((await gdn('status', '--json')).stdout);
}

async function texts(): Promise<string[]> {
  const { stdout } = await gdn('instance', 'show', 'host', 'default', '--json');
  const { messages }: { messages: { data: { content: string | { text: string }[] } }[] } = JSON.parse(stdout);
  return messages.map(({ data: { content } }) =>
    typeof content === 'string' ? content : content.map(({ text }) => text).join(''),
  );
}
