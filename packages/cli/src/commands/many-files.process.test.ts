// Tests the storage of files that `gdn send` and the chat send, on a real disk and in PostgreSQL. In the proof only.
import { expect, setDefaultTimeout } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { testInProof } from '../../../../test/samples.ts';
import { openDatabase } from '../../../postgres/src/driver/database.ts';
import { makeTestDatabase } from '../../../postgres/src/testing/test-database.ts';
import { hasPostgres } from '../../../postgres/src/testing/with-postgres.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { hasTmux, TmuxTerminal } from '../testing/tmux-terminal.ts';

setDefaultTimeout(180_000);

const LIMIT = 20 * 1_024 * 1_024;
const script = `- { say: 'I see {{files}}.' }`;

/** A running swarm, and the number of files that its store has. */
async function openPlace(kind: 'files' | 'PostgreSQL') {
  const place = new GdnPlace();
  await place.write('bundle', { 'goondan.yaml': sampleBundle({ script }) });
  const database = kind === 'files' ? undefined : await makeTestDatabase({ hasTables: false });
  const token = 'only-the-nodes-of-a-test-know-this-token-0123456789';
  const env = { GOONDAN_STORE: database?.address, GOONDAN_CLUSTER_TOKEN: token };
  if (database !== undefined) expect(await place.runWith({ env }, 'store', 'init')).toMatchObject({ exitCode: 0 });
  await place.serveWith({ env }, 'bundle');
  const send = (instance: string, ...files: readonly string[]) => {
    const named = files.flatMap((file) => ['--file', file]);
    const asked = ['--bundle', 'bundle', '--instance', instance, '--input', 'look', '--wait'];
    return place.runProcessWith({ env }, 'send', ...asked, ...named);
  };
  const count = async () => {
    if (database === undefined) {
      const workspaces = join(place.stateRoot, 'workspaces');
      return readdirSync(workspaces).flatMap((id) => readdirSync(join(workspaces, id, 'blobs/data'))).length;
    }
    const opened = openDatabase(database.address);
    const [row] = await opened.query<{ readonly count: string }>('select count(*) from gdn_blob where is_whole', []);
    await opened.close();
    return Number(row?.count);
  };
  const close = async () => {
    await place.runWith({ env }, 'stop', '--bundle', 'bundle');
    await database?.drop();
    expect(await place.remove()).toEqual([]);
  };
  return { place, env, send, count, [Symbol.asyncDispose]: close };
}

for (const kind of hasPostgres ? (['files', 'PostgreSQL'] as const) : (['files'] as const)) {
  testInProof(
    `Y-02 ${kind}: gdn send with 100 files, twice, stores them once; 20 MiB pass, and one byte more does not`,
    async () => {
      await using opened = await openPlace(kind);
      const { place, send, count } = opened;
      const names = Array.from({ length: 100 }, (_, index) => `${index}.txt`);
      await place.write('.', Object.fromEntries(names.map((name) => [name, `text of ${name}`])));
      for (const instance of ['one', 'two']) {
        const { stdout, exitCode } = await send(instance, ...names);
        expect(exitCode).toBe(0);
        expect(stdout.match(/\[file \d+\.txt, /g)).toHaveLength(100);
        expect(await count()).toBe(100);
      }
      await place.write('.', { 'most.txt': 'a'.repeat(LIMIT), 'more.txt': 'b'.repeat(LIMIT + 1) });
      expect(await send('big', 'most.txt')).toMatchObject({ stdout: 'I see [file most.txt, 20 MB].\n', exitCode: 0 });
      const refused = await send('big', 'more.txt');
      const why = `E_FILE_SIZE: The file "more.txt" has ${LIMIT + 1} bytes; at most ${LIMIT} are allowed.`;
      expect(refused).toMatchObject({ stdout: '', stderr: expect.stringContaining(why) });
      expect(refused.exitCode).not.toBe(0);
      expect(await count()).toBe(101);
    },
  );
}

if (hasTmux) {
  testInProof('Y-02 the chat takes 20 MiB, and refuses one byte more with a code, while the line stays', async () => {
    await using opened = await openPlace('files');
    const { place, count } = opened;
    await place.write('.', { 'most.txt': 'a'.repeat(LIMIT), 'more.txt': 'b'.repeat(LIMIT + 1) });
    const env = { GOONDAN_STATE_ROOT: place.stateRoot, NO_COLOR: '1' };
    const terminal = await TmuxTerminal.open({ cwd: place.folder, env, columns: 160 });
    try {
      await terminal.run('run', 'bundle', '--trust');
      await terminal.see('/help lists what you can type.\n>');
      await terminal.enter('look @most.txt');
      await terminal.see(/I see \[file most\.txt, 20 MB\]\.\n4 → 8 tokens\n\n>$/);
      await terminal.enter('look @more.txt');
      await terminal.see(
        /E_FILE_SIZE: The file "more\.txt" has 20971521 bytes; at most 20971520 are allowed\.[^]*> look @more\.txt$/,
      );
      expect(await count()).toBe(1);
      await terminal.press('C-u', 'C-d');
      await terminal.see(/\$$/);
    } finally {
      await terminal.close();
    }
  });
}
