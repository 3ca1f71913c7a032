// One swarm that runs while its bundle breaks: it can be reached, refuses what it cannot become, and can be stopped.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { GdnPlace } from '../testing/gdn-place.ts';
import { runCaptured } from '../testing/run-captured.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

const place = new GdnPlace();
const folder = join(place.folder, 'swarm');
const PATIENCE = 60_000;

const extension = (name: string) => `kind: Extension\nmetadata: { name: ${name} }\nspec: { entry: ./${name}.ts }`;
const ears = `kind: Connector
metadata: { name: ears }
spec: { entry: ./ears.ts, events: [{ name: heard }] }
---
apiVersion: goondan.ai/v1
kind: Connection
metadata: { name: ears }
spec: { connectorRef: Connector/ears, ingress: { rules: [{ match: { event: heard }, route: { agentRef: Agent/host } }] } }`;
const good = 'export const register = () => undefined;\n';
const throws = 'export function register() {\n  throw new Error("not today");\n}\n';
const quietEars = 'export default async () => undefined;\n';

/** The agents `host`, which is asked in these tests, and `helper`, which never has a process. */
function bundleWith(more: string): string {
  const documents = sampleBundle({ agents: ['helper'], agent: 'extensions: [Extension/part]' }).replace(
    'metadata: { name: helper }\nspec:\n',
    'metadata: { name: helper }\nspec:\n  extensions: [Extension/other]\n',
  );
  return [documents, extension('part'), extension('other'), ...(more === '' ? [] : [more])].join(
    '\n---\napiVersion: goondan.ai/v1\n',
  );
}

const gdn = (...args: string[]) => runCaptured([...args, '--state-root', place.stateRoot]);
const about = (...args: string[]) => gdn(...args, '--bundle', folder);

async function pidOf(agent: string): Promise<number | undefined> {
  const { stdout } = await about('status', '--json');
  // What `gdn status --json` prints.
  const { agents } = JSON.parse(stdout) as { agents: { agent: string; pid: number }[] };
  return agents.find((each) => each.agent === agent)?.pid;
}

async function ask(input: string) {
  const { exitCode, stdout } = await about('send', '--input', input, '--wait');
  return { exitCode, stdout };
}

beforeAll(async () => {
  await place.write('swarm', {
    'goondan.yaml': bundleWith(''),
    'part.ts': good,
    'other.ts': good,
    'ears.ts': quietEars,
  });
  expect(await place.run('run', 'swarm', '--trust', '--detach')).toMatchObject({ exitCode: 0 });
  expect(await ask('hi')).toEqual({ exitCode: 0, stdout: 'You said: hi\n' });
}, PATIENCE);
afterAll(async () => {
  await gdn('stop', '--bundle', folder, '--grace', '0');
  expect(await place.remove()).toEqual([]);
}, PATIENCE);

describe('a reload whose new parts do not start', () => {
  test.each([
    ['an agent that runs', { 'part.ts': throws }, /Agent\/host .*Extension\/part.*not today/s],
    ['an agent that sleeps', { 'other.ts': throws }, /Agent\/helper .*Extension\/other.*not today/s],
    [
      'a connection',
      { 'goondan.yaml': bundleWith(ears), 'ears.ts': 'throw new Error("deaf");' },
      /Connection\/ears .*Connector\/ears: "\.\/ears\.ts".*deaf/s,
    ],
  ])(
    'D-06 %s: exit 1 with the reason, the agent keeps its process and answers, nothing is left',
    async (_what, files, reason) => {
      const pid = await pidOf('host');
      await place.write('swarm', files);
      const { exitCode, stdout, stderr } = await about('reload');
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      expect(stderr).toMatch(/^E_RELOAD_FAILED: /m);
      expect(stderr).toMatch(reason);
      expect(await ask('still there?')).toEqual({ exitCode: 0, stdout: 'You said: still there?\n' });
      expect(await pidOf('host')).toBe(pid);
      const [workspace = ''] = readdirSync(join(place.stateRoot, 'workspaces'));
      const run = readdirSync(join(place.stateRoot, 'workspaces', workspace, 'run'));
      expect([...run, ...place.processes()].filter((each) => each.includes('goondan-'))).toEqual([]);
      await place.write('swarm', { 'goondan.yaml': bundleWith(''), 'part.ts': good, 'other.ts': good });
    },
    PATIENCE,
  );

  test(
    'D-06 that are corrected: the reload goes through, and replaces the process',
    async () => {
      const pid = await pidOf('host');
      const files = { 'goondan.yaml': bundleWith(ears), 'part.ts': `${good}// Another one.\n`, 'ears.ts': quietEars };
      await place.write('swarm', files);
      const { exitCode, stdout } = await about('reload');
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout: 'Reloaded: changed Agent/host; added Connection/ears; 2 kept.\n',
      });
      expect(await ask('again')).toEqual({ exitCode: 0, stdout: 'You said: again\n' });
      expect(await pidOf('host')).not.toBe(pid);
    },
    PATIENCE,
  );
});
