// Tests the program of a connector process, as a real process.
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import type { ConnectorStart } from '../config/connector-start.ts';
import { connectorLanguage } from '../ipc/codec.ts';
import { acceptConnectorEvents } from '../ipc/connector-events.ts';
import type { FromConnector } from '../ipc/from-connector.ts';
import { killTagged } from '../orchestrator/guardian/kill-tagged.ts';
import { newTag } from '../orchestrator/guardian/process-tag.ts';
import { childSpawner } from '../orchestrator/child/spawn-child.ts';
import { until } from '../../../../test/until.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';

setDefaultTimeout(60_000);

const runTag = newTag('GOONDAN_RUN');
const folder = temporaryFolder();
afterAll(async () => {
  expect((await killTagged(runTag)).ended).toEqual([]);
});

function start(text: string) {
  const root = join(folder, crypto.randomUUID());
  mkdirSync(root);
  writeFileSync(join(root, 'connector.ts'), text);
  const child = childSpawner({ runTag })(connectorLanguage, {
    name: 'connection inbound',
    runner: join(import.meta.dir, 'main.ts'),
    frameFolder: join(root, 'frames'),
    args: [root],
  });
  const heard: FromConnector[] = [];
  const events: string[] = [];
  child.channel.onMessage((message) => heard.push(message));
  acceptConnectorEvents(child.channel, async (_, { name }) => void events.push(name));
  const plan: ConnectorStart = {
    connection: 'inbound',
    connector: 'chat',
    root,
    entry: 'connector.ts',
    config: {},
    secrets: {},
  };
  // The cast is safe: a plan is JSON.
  void child.channel.send({ type: 'start', plan: plan as unknown as JsonObject });
  const says = (type: FromConnector['type']) => until(() => heard.find((each) => each.type === type));
  return { child, heard, events, says };
}

describe('the process of a connector', () => {
  test('ends at once when its orchestrator is gone, although it has a timer and ignores its signal', async () => {
    const { child, says } = start('export default async () => { setInterval(() => undefined, 10); };');
    await says('ready');
    child.channel.close();
    expect(await child.exited).toMatchObject({ code: 0, signal: null });
  });

  test('SIGTERM is a drain: the last event is emitted, then it ends', async () => {
    const { child, says, events } = start(`
      export default ({ emit, signal }) => new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(emit({ name: 'last' })));
      });`);
    await says('ready');
    process.kill(child.pid, 'SIGTERM');
    expect(await child.exited).toMatchObject({ code: 0, signal: null });
    expect(events).toEqual(['last']);
    await says('drained');
  });

  test.each([
    ['an error nobody caught', `setTimeout(() => { throw new RangeError('a bug'); }, 1)`],
    ['a rejection nobody looked at', `setTimeout(async () => { throw new RangeError('a bug'); }, 1)`],
  ])('ends by %s, and reports it with its place', async (_, bug) => {
    const { child, says, heard } = start(`export default async (): Promise<void> => {\n  ${bug};\n};`);
    const place = expect.objectContaining({ file: 'connector.ts', line: 2 });
    expect(await says('failed')).toMatchObject({
      error: {
        code: expect.stringMatching(/^E_CONNECTOR_(START|ENDED)$/),
        message: expect.stringContaining('a bug'),
        place,
      },
    });
    expect(await child.exited).toMatchObject({ code: 1, signal: null });
    expect(heard).toContainEqual({
      type: 'log',
      line: expect.objectContaining({
        level: 'error',
        message: 'Connector/chat failed: RangeError: a bug',
        place,
        data: { code: expect.stringMatching(/^E_CONNECTOR_/), stack: expect.stringContaining('at connector.ts:2:') },
      }),
    });
  });

  test('lives on with an unhandled rejection, which has the class that a bundle imports', async () => {
    const { child, says, events } = start(`
      import { GoondanError } from '@goondan/types';
      export default async ({ emit }) => {
        void emit({});
        const error = await emit({}).catch((thrown) => thrown);
        await emit({ name: error instanceof GoondanError ? error.code : 'no instance' });
      };`);
    await says('ready');
    expect(events).toEqual(['E_CONNECTOR_EVENT']);
    await child.kill(0);
  });
});
