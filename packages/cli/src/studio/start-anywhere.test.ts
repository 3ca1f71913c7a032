import { describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { stateRoot as chooseStateRoot } from '@goondan/runtime/control';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { findStartCommand, startAnywhere } from './start-anywhere.ts';

const stateRoot = temporaryFolder();
writeFileSync(join(stateRoot, 'goondan.yaml'), '');

/** Writes the record of a swarm that ran in this workspace. */
function record(workspaceId: string, swarm: string, folder?: string) {
  mkdirSync(join(stateRoot, 'workspaces', workspaceId), { recursive: true });
  writeFileSync(join(stateRoot, 'workspaces', workspaceId, 'swarm.json'), JSON.stringify({ swarm, folder }));
  return findStartCommand({}, { stateRoot, workspaceId });
}

describe('the start command in Studio', () => {
  test('has the absolute path of the folder, and the state root unless it is the default one', () => {
    const usual = chooseStateRoot({ home: homedir() });
    expect(startAnywhere({ folder: '.', stateRoot: usual })).toBe(`gdn run ${process.cwd()} --detach`);
    expect(startAnywhere({ folder: '/my swarms/a', swarm: 'night', stateRoot: '/state' })).toBe(
      "gdn run '/my swarms/a' --swarm night --state-root /state --detach",
    );
  });

  test('is known for every workspace whose bundle still exists', async () => {
    const end = `--state-root ${stateRoot} --detach`;
    expect(await record('one', 'default', stateRoot)).toBe(`gdn run ${stateRoot} ${end}`);
    expect(await record('two', 'night', stateRoot)).toBe(`gdn run ${stateRoot} --swarm night ${end}`);
    expect(await record('gone', 'default', join(stateRoot, 'gone'))).toBeUndefined();
    expect(await record('of-a-program', 'default', join(stateRoot, 'workspaces'))).toBeUndefined();
    expect(await record('of-an-older-version', 'default')).toBeUndefined();
  });
});
