import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import { GdnPlace } from '../testing/gdn-place.ts';
import { commandsAbout } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(60_000);

const place = new GdnPlace();
const { gdn, json } = commandsAbout(place);
beforeEach(async () => {
  await place.write('bundle', { 'goondan.yaml': sampleBundle({ agents: ['helper'] }) });
  await place.serve('bundle');
});
afterEach(async () => {
  await gdn('stop');
  expect(await place.remove()).toEqual([]);
});

const counts = async () => (await json('instance list --json')).map(({ messages }: { messages: number }) => messages);

test('gdn restart --fresh of all conversations asks at a terminal, and otherwise needs --yes', async () => {
  expect(await gdn('restart --fresh')).toEqual({ stdout: '0 instances restarted.\n', stderr: '', exitCode: 0 });
  for (const key of ['one', 'two']) await gdn(`send --input Hi --wait --instance ${key}`);

  const silent = await gdn('restart --fresh');
  expect(silent).toEqual({
    stdout: '',
    stderr:
      'E_USAGE: To start all 2 conversations of the swarm over, confirm it.\n' +
      'Type `gdn restart --fresh --yes --bundle bundle`.\n',
    exitCode: 2,
  });
  const asked = ['restart', '--fresh', '--bundle', 'bundle'];
  const whenSeen = 'Start all 2 conversations of the swarm over, without messages and states of extensions? [y/N] ';
  const denied = await place.runOnTerminal(asked, [{ whenSeen, keys: 'n\r' }]);
  expect(denied.screen).toContain('E_CANCELLED: Nothing was restarted.\n');
  expect(denied.exitCode).toBe(130);
  expect((await gdn('restart')).exitCode).toBe(0);
  expect(await counts()).toEqual([2, 2]);

  const agreed = await place.runOnTerminal(asked, [{ whenSeen, keys: 'y\r' }]);
  expect(agreed.screen).toContain('2 instances restarted.\n');
  expect(await counts()).toEqual([0, 0]);
  for (const key of ['one', 'two']) await gdn(`send --input Hi --wait --instance ${key}`);
  expect((await gdn('restart --fresh --instance one')).stdout).toBe('1 instance restarted.\n');
  expect(await counts()).toEqual([0, 2]);
  expect(await gdn('restart --fresh --yes')).toMatchObject({ stdout: '2 instances restarted.\n', stderr: '' });
  expect(await counts()).toEqual([0, 0]);
});

test('gdn restart --fresh asks before it starts several conversations over, and rejects unknown ones', async () => {
  expect(await gdn('restart --fresh --agent host')).toMatchObject({ stdout: '0 instances restarted.\n', exitCode: 0 });
  for (const to of ['--agent host --instance one', '--agent host --instance two', '--agent helper --instance one'])
    await gdn(`send --input Hi --wait ${to}`);
  const refused = async (typed: string, what: string) =>
    expect(await gdn(`restart --fresh ${typed}`)).toEqual({
      stdout: '',
      stderr:
        `E_USAGE: To start 2 conversations ${what} over, confirm it.\n` +
        `Type \`gdn restart --fresh ${typed} --yes --bundle bundle\`.\n`,
      exitCode: 2,
    });
  await refused('--agent host', 'of host');
  await refused('--instance one', 'with the key "one"');
  expect(await counts()).toEqual([2, 2, 2]);
  expect((await gdn('restart --fresh --agent helper')).stdout).toBe('1 instance restarted.\n');
  expect((await gdn('restart --fresh --agent host --instance two')).stdout).toBe('1 instance restarted.\n');
  expect((await gdn('restart --fresh --agent host --yes')).stdout).toBe('2 instances restarted.\n');
  expect(await counts()).toEqual([0, 0, 0]);

  for (const fresh of ['', ' --fresh --yes']) {
    const unknown = async (typed: string) => {
      const { stderr, exitCode } = await gdn(`restart${fresh} ${typed}`);
      expect(exitCode).toBe(3);
      return stderr;
    };
    expect(await unknown('--agent host --instance twoo')).toStartWith(
      'E_INSTANCE_UNKNOWN: Agent "host" has no conversation "twoo".\nDid you mean `two`?',
    );
    expect(await unknown('--instance nobody')).toStartWith(
      'E_INSTANCE_UNKNOWN: The swarm has no conversation "nobody".\n',
    );
    expect((await gdn(`restart${fresh} --agent hots --instance one`)).stderr).toStartWith('E_AGENT_UNKNOWN: ');
  }
});
