import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { samples } from '../../../../../test/samples.ts';
import { type ChangesetOrder, commitChangeset } from '../simulation/changeset-process.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { openChangesets } from './open-changesets.ts';

const program = join(import.meta.dir, '../simulation/changeset-process.ts');
const old = { 'goondan.yaml': 'old', 'prompts/a.md': 'old', 'prompts/b.md': 'old', 'prompts/c.md': 'old' };
const next = { 'goondan.yaml': 'new', 'prompts/a.md': 'new', 'prompts/b.md': 'new', 'tools/x/index.ts': 'new' };

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'changesets-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('kill -9 in the middle of a commit leaves all old or all new files, and the changeset says which', async () => {
  const operations = await commitChangeset(await order('dry'));
  const moments = samples(50);
  expect(operations).toBeGreaterThan(100);
  const ends: Record<string, number> = {};
  for (let moment = 0; moment < moments; moment += 1) {
    const place = await order(`${moment}`);
    const killAt = 1 + Math.floor((moment * operations) / moments);
    const child = start({ ...place, killAt });
    await child.exited;
    expect(child.signalCode).toBe('SIGKILL');
    const changesets = openChangesets(place);
    const { state: before } = await changesets.get(place.id);
    const recoveries = await changesets.recover();
    const { state } = await changesets.get(place.id);
    expect(filesOf(place.bundleFolder)).toEqual(state === 'committed' ? next : old);
    if (before === 'applying') expect(recoveries).toMatchObject([{ outcome: 'committed', leftAlone: [] }]);
    else expect(recoveries).toEqual([]);
    ends[before] = (ends[before] ?? 0) + 1;
  }
  // Both sides of the moment from which recovery goes forward were tried.
  expect(Object.keys(ends).toSorted()).toContain('applying');
  expect(Object.keys(ends).toSorted()).toContain('open');
});

test('a living process keeps the bundle locked; after kill -9 the next one finishes its commit', async () => {
  const place = await order('held');
  let applied = () => {};
  const isApplied = new Promise<void>((resolve) => {
    applied = resolve;
  });
  const child = start({ ...place, hangs: true }, applied);
  await isApplied;
  const changesets = openChangesets(place);
  expect(await rejectionOf(changesets.recover({ waitMs: 0 }))).toMatchObject({
    code: 'E_CHANGESET_BUSY',
    message: expect.stringContaining(`Process ${child.pid} `),
  });
  const waiting = changesets.recover();
  child.kill('SIGKILL');
  expect(await waiting).toMatchObject([{ outcome: 'committed' }]);
  expect(filesOf(place.bundleFolder)).toEqual(next);
});

/** Makes a bundle with an open changeset. */
async function order(name: string): Promise<ChangesetOrder> {
  const stateRoot = join(root, name, 'state');
  const bundleFolder = join(root, name, 'bundle');
  for (const [path, content] of Object.entries(old)) {
    mkdirSync(dirname(join(bundleFolder, path)), { recursive: true });
    writeFileSync(join(bundleFolder, path), content);
  }
  const changesets = openChangesets({ stateRoot, bundleFolder });
  const { id } = await changesets.open({ swarm: 's', agent: 'a', instanceKey: 'k' });
  for (const [path, content] of Object.entries(next)) await changesets.write(id, path, content);
  await changesets.write(id, 'prompts/c.md', null);
  return { stateRoot, bundleFolder, id };
}

function start(what: ChangesetOrder, onMessage: () => void = () => undefined) {
  return Bun.spawn([process.execPath, program, JSON.stringify(what)], {
    stdio: ['ignore', 'inherit', 'inherit'],
    ipc: onMessage,
  });
}

function filesOf(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
