// Tests how the swarm of a folder is found by the records in the state root. No real swarm runs here, only a fake.
import { beforeEach, describe, expect, test } from 'bun:test';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { controlSocketPath, systemSocketEnvironment, workspaceId } from '@goondan/runtime/control';
import { serveControl } from '../../../runtime/src/orchestrator/control/serve-control.ts';
import { fakeControl } from '../../../runtime/src/testing/fake-control.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { findSwarm } from './find-swarm.ts';

const root = temporaryFolder();
const folder = join(root, 'bundle');
const stateRoot = join(root, 'state');
beforeEach(() => {
  rmSync(root, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
});

function remember(swarm: string, id = workspaceId({ swarmName: swarm, bundleRealPath: folder })): string {
  const path = join(stateRoot, 'workspaces', id);
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'swarm.json'), JSON.stringify({ swarm, folder }));
  return id;
}

/** Writes a bundle that declares swarms of these names. */
function declare(...names: string[]): void {
  const [first = '', ...others] = names;
  const more = others.map(
    (name) => `kind: Swarm\nmetadata: { name: ${name} }\nspec: { entryAgent: Agent/host, agents: [Agent/host] }`,
  );
  const text = sampleBundle().replace('name: default', `name: ${first}`);
  writeFileSync(join(folder, 'goondan.yaml'), [text, ...more].join('\n---\napiVersion: goondan.ai/v1\n'));
}

const find = (swarm?: string) => findSwarm({ stateRoot, folder, swarm }).catch((error: unknown) => error);

describe('without a name', () => {
  test('takes the one swarm that ran from the folder, whatever the bundle says', async () => {
    const id = remember('shop', 'kept-here');
    for (const text of ['{{{', 'kind: Agent', '']) {
      writeFileSync(join(folder, 'goondan.yaml'), text);
      expect(await find()).toEqual({ swarm: 'shop', workspaceId: id });
    }
    rmSync(folder, { recursive: true });
    expect(await find()).toEqual({ swarm: 'shop', workspaceId: id });
  });

  test('several swarms are an error that lists them and the option', async () => {
    remember('shop');
    remember('office');
    for (const prepare of [() => declare('shop', 'office'), () => writeFileSync(join(folder, 'goondan.yaml'), '{{{')]) {
      prepare();
      expect(await find()).toMatchObject({
        code: 'E_SWARM_UNKNOWN',
        message: expect.stringMatching(/^Several swarms ran from ".*bundle": (shop, office|office, shop)\.$/),
        suggestion: expect.stringMatching(/`--swarm (shop|office)`/),
      });
    }
  });

  test('an old name that the bundle no longer declares is left out', async () => {
    remember('old');
    const id = remember('new');
    declare('new');
    expect(await find()).toEqual({ swarm: 'new', workspaceId: id });
  });

  test('no name is left out because of an invalid bundle, even if it can be read', async () => {
    remember('shop');
    remember('office');
    declare('shop');
    appendFileSync(
      join(folder, 'goondan.yaml'),
      '\n---\napiVersion: goondan.ai/v1\nkind: Agent\nmetadata: { name: bad }\n',
    );
    expect(await find()).toMatchObject({
      code: 'E_SWARM_UNKNOWN',
      message: expect.stringMatching(/: (shop, office|office, shop)\.$/),
    });
  });

  test('a folder without a run uses its bundle', async () => {
    declare('shop');
    expect(await find()).toEqual({
      swarm: 'shop',
      workspaceId: workspaceId({ swarmName: 'shop', bundleRealPath: folder }),
    });
    writeFileSync(join(folder, 'goondan.yaml'), '{{{');
    expect(await find()).toMatchObject({ code: 'E_BUNDLE_INVALID' });
  });
});

describe('with a name', () => {
  test('takes that swarm, with and without its kind', async () => {
    const id = remember('shop');
    remember('office');
    expect(await find('shop')).toEqual({ swarm: 'shop', workspaceId: id });
    expect(await find('Swarm/shop')).toEqual({ swarm: 'shop', workspaceId: id });
  });

  test('reads the bundle for one that never ran; when that fails, the error lists those that ran', async () => {
    remember('shop');
    declare('shop', 'office');
    expect(await find('office')).toMatchObject({ swarm: 'office' });
    expect(await find('none')).toMatchObject({ code: 'E_SWARM_UNKNOWN', message: expect.stringContaining('it has') });
    writeFileSync(join(folder, 'goondan.yaml'), '{{{');
    expect(await find('office')).toMatchObject({
      code: 'E_SWARM_UNKNOWN',
      message: expect.stringContaining(': shop.'),
    });
  });

  test('takes the running one of two workspaces, though the other logged last', async () => {
    const running = remember('shop', 'first');
    const id = remember('shop', 'second');
    mkdirSync(join(stateRoot, 'workspaces', id, 'logs'));
    writeFileSync(join(stateRoot, 'workspaces', id, 'logs', 'swarm.jsonl'), '');
    const path = controlSocketPath(join(stateRoot, 'workspaces', running), running, systemSocketEnvironment());
    const server = await serveControl(fakeControl(), { path });
    try {
      expect(await find('shop')).toEqual({ swarm: 'shop', workspaceId: running });
    } finally {
      await server.close();
    }
  });

  test('takes the one of two workspaces that logged last while neither runs', async () => {
    remember('shop', 'first');
    const id = remember('shop', 'second');
    mkdirSync(join(stateRoot, 'workspaces', id, 'logs'));
    writeFileSync(join(stateRoot, 'workspaces', id, 'logs', 'swarm.jsonl'), '');
    expect(await find('shop')).toEqual({ swarm: 'shop', workspaceId: id });
  });
});
