import { describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { type LoadedAgent, readDescription, recordDescriptions } from './agent-descriptions.ts';
import type { StoreWarning } from '../store-ports.ts';

const temporary = temporaryFolder();

let count = 0;
/** Makes the folder of a workspace, as the swarm that owns it does. */
function newPlace() {
  const stateRoot = join(temporary, String((count += 1)));
  mkdirSync(join(stateRoot, 'workspaces', 'w'), { recursive: true });
  return { stateRoot, workspaceId: 'w' };
}
const layersOf = ({ stateRoot }: { stateRoot: string }) => join(stateRoot, 'workspaces', 'w', 'layers');

function loaded(tool: string): LoadedAgent {
  return {
    extensions: ['guard'],
    layers: [
      {
        kind: 'turn',
        extension: 'guard',
        name: 'outer',
        tier: 'swarm',
        priority: 10,
        mayShortCircuit: true,
        timeoutMs: 5,
        onError: 'skip',
        buffers: false,
      },
    ],
    tools: [tool],
    digest: 'abc',
  };
}

const noWarning = ({ path, message }: StoreWarning) => expect.unreachable(`${path}: ${message}`);

async function record(recorder: ReturnType<typeof recordDescriptions>, agent: string, as: LoadedAgent): Promise<void> {
  recorder.record(agent, as);
  await recorder.settled();
}

/** Wraps the real disk and counts the renames. */
function countingFs(): { fs: Fs; renames: () => number } {
  let renames = 0;
  const rename: Fs['rename'] = (from, to) => {
    renames += 1;
    return systemFs.rename(from, to);
  };
  return { fs: { ...systemFs, rename }, renames: () => renames };
}

describe('descriptions of agents', () => {
  test('a late description does not bring back a deleted state root', async () => {
    const warnings: StoreWarning[] = [];
    const place = newPlace();
    rmSync(place.stateRoot, { recursive: true });
    const descriptions = recordDescriptions({ ...place, warn: (warning) => warnings.push(warning) });
    await record(descriptions, 'coder', loaded('a'));
    expect([existsSync(place.stateRoot), warnings.length]).toEqual([false, 1]);
  });

  test('reads a recorded description back; only its owner can read the file', async () => {
    const place = newPlace();
    const recorder = recordDescriptions({ ...place, warn: noWarning });
    await record(recorder, 'host', loaded('a__b'));
    expect(await readDescription(place, 'host')).toEqual({ ...loaded('a__b'), recordedAt: expect.any(String) });
    expect(await readDescription(place, 'other')).toBeUndefined();
    expect(readdirSync(layersOf(place))).toEqual(['host.json']);
    expect(statSync(join(layersOf(place), 'host.json')).mode & 0o777).toBe(0o600);
  });

  test('the last of many concurrent starts counts, and an equal description is not written again', async () => {
    const place = newPlace();
    const { fs, renames } = countingFs();
    const recorder = recordDescriptions({ ...place, fs, warn: noWarning });
    for (let start = 0; start < 100; start += 1) recorder.record('host', loaded(`a__${start}`));
    await recorder.settled();
    expect((await readDescription(place, 'host'))?.tools).toEqual(['a__99']);
    expect(renames()).toBe(1);
    await record(recorder, 'host', loaded('a__99'));
    expect(renames()).toBe(1);
    await record(recorder, 'host', loaded('a__100'));
    expect((await readDescription(place, 'host'))?.tools).toEqual(['a__100']);
  });

  test('tools seen before stay until the current ones are known, also in the next run', async () => {
    const place = newPlace();
    const first = recordDescriptions({ ...place, warn: noWarning });
    const seen = [{ name: 'files__look', extension: 'files', seenAt: '2026-01-01' }];
    await record(first, 'host', { ...loaded('files__look'), registered: seen });
    const { fs, renames } = countingFs();
    const second = recordDescriptions({ ...place, fs, warn: noWarning });
    const starting = { ...loaded('clock__now'), unknown: ['files'] };
    await record(second, 'host', starting);
    expect(await readDescription(place, 'host')).toMatchObject({
      tools: ['clock__now', 'files__look'],
      registered: seen,
    });
    // Nothing is written if a tool differs only in the time when it was seen.
    await record(second, 'host', { ...loaded('files__look'), registered: seen });
    const later = seen.map((tool) => ({ ...tool, seenAt: '2026-01-02' }));
    await record(second, 'host', { ...loaded('files__look'), registered: later });
    expect(renames()).toBe(2);
  });

  test('tools seen in this run stay when their server is lost', async () => {
    const place = newPlace();
    const recorder = recordDescriptions({ ...place, warn: noWarning });
    const seen = [{ name: 'files__look', extension: 'files', seenAt: '2026-01-01' }];
    const unknown = { ...loaded('clock__now'), unknown: ['files'] };
    for (const described of [unknown, { ...loaded('files__look'), registered: seen }, unknown])
      await record(recorder, 'host', described);
    expect(await readDescription(place, 'host')).toMatchObject({ registered: seen });
  });

  test('a disk error gives a warning, and the next start is written', async () => {
    const place = newPlace();
    const warnings: StoreWarning[] = [];
    let isBroken = true;
    const rename: Fs['rename'] = (from, to) =>
      isBroken ? Promise.reject(new Error('the disk is gone')) : systemFs.rename(from, to);
    const fs = { ...systemFs, rename };
    const recorder = recordDescriptions({ ...place, fs, warn: (warning) => warnings.push(warning) });
    await record(recorder, 'host', loaded('a__b'));
    expect(warnings).toEqual([{ path: join(layersOf(place), 'host.json'), message: expect.stringContaining('gone') }]);
    expect(await readDescription(place, 'host')).toBeUndefined();
    isBroken = false;
    await record(recorder, 'host', loaded('a__b'));
    expect(await readDescription(place, 'host')).toMatchObject(loaded('a__b'));
  });

  test('a file that is damaged, or about another agent, is ignored', async () => {
    const place = newPlace();
    const recorder = recordDescriptions({ ...place, warn: noWarning });
    await record(recorder, 'host', loaded('a__b'));
    const path = join(layersOf(place), 'host.json');
    const good = readFileSync(path, 'utf8');
    for (const text of ['', '{', 'null', '[]', good.replace('"turn"', '"tern"'), good.replace('"host"', '"guest"')]) {
      expect(text).not.toBe(good);
      writeFileSync(path, text);
      expect(await readDescription(place, 'host')).toBeUndefined();
    }
  });
});
