// Backups on the simulated disk, with an owner that writes at the worst moment, and with damage.
import { describe, expect, test } from 'bun:test';
import type { BundleFs } from '../../ports/bundle-fs.ts';
import { QuestionFile } from '../questions/question-file.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';
import { openJournal } from '../journal/journal.ts';
import { sealLines } from '../lines/seal-lines.ts';
import { backupFolder, beginTurn, from, gatedFs, limits, runTurn, to } from '../simulation/busy-workspace.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import {
  backUpOriginal,
  handleTurn,
  messageIds,
  openOriginal,
  openRestored,
  restoreBackup,
  workspace,
} from '../simulation/simulated-backup.ts';
import { simulatedBundleDisk } from '../simulation/simulated-bundle-disk.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedMachine } from '../simulation/simulated-machine.ts';
import { simpleEvent } from '../simulation/simulated-turn.ts';

const one = { agentName: 'coder', instanceKey: 'one' };
const two = { agentName: 'coder', instanceKey: 'two' };
const folder = `${workspace}/instances/coder~one`;

/** Backs up the workspace, and runs `action` once, before the first operation for which `isMoment` returns true. */
async function backUp(
  disk: SimulatedDisk,
  isMoment: (operation: string, path: string) => boolean = () => false,
  action: () => Promise<void> = async () => undefined,
  files: BundleFs = simulatedBundleDisk(disk),
) {
  let isOver = false;
  const fs: BundleFs = gatedFs(files, async (operation, path) => {
    if (isOver || !isMoment(operation, path)) return;
    isOver = true;
    await action();
  });
  return backUpOriginal(disk, fs);
}

const isReadOf = (path: string) => (operation: string, given: string) => operation === 'read' && given === path;

async function write(disk: SimulatedDisk, path: string, bytes: Uint8Array): Promise<void> {
  await disk.remove(path);
  const file = await disk.openFile(path);
  await file.append(bytes);
  await file.sync();
  await file.close();
}

describe('a turn whose input came too late for the copy of the inbox', () => {
  test.each(['nothing', 'a commit without a turn', 'a commit without a turn, after a crash'])(
    'is not in the backup, and does not block the restored conversation; behind its records is %s',
    async (behind) => {
      const disk = SimulatedDisk.empty();
      const journal = await openOriginal(disk);
      await handleTurn(journal, one, 'early');
      if (behind !== 'nothing') await journal.outbox.add(one, 'answer', { x: 1 });
      const { problems } = await backUp(disk, isReadOf(`${folder}/metadata.json`), async () => {
        await journal.accept(one, simpleEvent('late'));
        await beginTurn(journal, one, 'late');
        if (behind.endsWith('crash')) {
          await journal.close(one);
          await journal.recover(one);
        }
        await journal.outbox.acknowledge(one, 'answer');
      });
      expect(problems).toEqual([]);
      expect(await journal.hasWork(one)).toBe(true);
      const again = await openRestored(disk);
      expect(await again.hasWork(one)).toBe(false);
      expect(await again.outbox.pending(one)).toEqual([]);
      await handleTurn(again, one, 'next');
      expect(await messageIds(again, one)).toEqual(['input-early', 'answer-early', 'input-next', 'answer-next']);
      await again.close();
      await journal.close();
    },
  );
});

describe('an inbox log that begins while the conversations are copied', () => {
  test.each(['in no folder', 'in a folder without files'])(
    'is copied with the input of their turns: %s',
    async (where) => {
      const disk = SimulatedDisk.empty();
      const journal = await openOriginal(disk);
      if (where.endsWith('files')) await disk.makeFolder(`${workspace}/inbox`);
      const { problems } = await backUp(disk, isReadOf(`${workspace}/approvals.jsonl`), async () => {
        await handleTurn(journal, one, 'first');
        await journal.close(one);
      });
      expect(problems).toEqual([]);
      const again = await openRestored(disk);
      await handleTurn(again, one, 'next');
      expect(await messageIds(again, one)).toEqual(['input-first', 'answer-first', 'input-next', 'answer-next']);
    },
  );
});

test('a conversation that is deleted while it is copied is not in the backup', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openOriginal(disk);
  for (const instance of [one, two]) await handleTurn(journal, instance, instance.instanceKey);
  const backup = await backUp(disk, isReadOf(`${folder}/messages/events.jsonl`), async () => {
    await journal.delete(one);
  });
  expect(backup).toMatchObject({ conversations: 1, problems: [] });
  expect(await disk.list(`${backupFolder}/workspace/instances`)).toEqual(['coder~two']);
  const again = await openRestored(disk);
  expect(await again.instances()).toEqual([two]);
});

test('a backup that is copied again has only the segments of the inbox log that exist then', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openOriginal(disk);
  const segments = async (path: string) => ((await disk.list(`${path}/inbox`)) ?? []).toSorted();
  let first: readonly string[] = [];
  let lists = 0;
  const isMoment = (operation: string, path: string) => {
    if (operation === 'list' && path === `${workspace}/inbox`) lists += 1;
    // The backup has seen that there is no log. It copies the log that begins now.
    return lists === 2;
  };
  const isSecond = isReadOf(`${workspace}/approvals.jsonl`);
  const fs = gatedFs(simulatedBundleDisk(disk), async (operation, path) => {
    if (first.length > 0 || !isSecond(operation, path)) return;
    first = await segments(workspace);
    await runTurn(journal, one, 'e1');
    for (const id of ['e2', 'e3', 'e4']) await handleTurn(journal, one, id);
    await journal.close();
  });
  await backUp(disk, isMoment, async () => void (await journal.accept(one, simpleEvent('e1'))), fs);
  expect(first).toEqual(['inbox.000001.jsonl']);
  expect(await segments(workspace)).not.toContain('inbox.000001.jsonl');
  expect(await segments(`${backupFolder}/workspace`)).toEqual(await segments(workspace));
  const again = await openRestored(disk);
  expect(await again.pending(one)).toEqual([]);
});

describe('damage', () => {
  test('of the inbox log is reported, and copied as it is', async () => {
    const disk = SimulatedDisk.empty();
    const journal = await openOriginal(disk, { ...limits, inboxCompactionBytes: 1_000_000 });
    for (const id of ['e1', 'e2', 'e3']) await journal.accept(one, simpleEvent(id));
    await journal.close();
    const [name = ''] = ((await disk.list(`${workspace}/inbox`)) ?? []).filter((each) => each.endsWith('.jsonl'));
    const path = `${workspace}/inbox/${name}`;
    const bytes = Buffer.from((await disk.read(path)) ?? []);
    const at = bytes.indexOf('input of e2');
    expect(at).toBeGreaterThan(0);
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    await write(disk, path, bytes);
    const { problems } = await backUp(disk);
    expect(problems).toEqual([expect.stringContaining(`${path} is damaged: `)]);
    const names = (await disk.list(`${backupFolder}/workspace/inbox`)) ?? [];
    expect(names).toEqual(['inbox.000001.jsonl']);
  });

  test('of the questions is reported', async () => {
    const disk = SimulatedDisk.empty();
    const journal = await openOriginal(disk);
    await journal.openInbox();
    await journal.close();
    const lines = Buffer.from(sealLines(['a', 'b', 'c'].map((key, seq) => JSON.stringify({ seq, key }))));
    lines[lines.indexOf('"b"')] = 0x78;
    await write(disk, `${workspace}/approvals.jsonl`, lines);
    const { problems } = await backUp(disk);
    expect(problems).toEqual([expect.stringContaining(`${workspace}/approvals.jsonl is damaged: `)]);
  });

  test('in the middle of a scratch file is reported, and the backup has the other files', async () => {
    const disk = SimulatedDisk.empty();
    const journal = await openOriginal(disk);
    await handleTurn(journal, one, 'e1');
    await journal.close();
    await disk.makeFolder(`${folder}/scratch`);
    await write(disk, `${folder}/scratch/big`, new Uint8Array(3_000_000));
    await write(disk, `${folder}/scratch/small`, new Uint8Array(3));
    const base = simulatedBundleDisk(disk);
    const fs: BundleFs = {
      ...base,
      read: async (path, start, length) => {
        if (path.endsWith('scratch/big') && (start ?? 0) > 0) throw new Error(`${path}: bad sector`);
        return base.read(path, start, length);
      },
    };
    const { problems } = await backUpOriginal(disk, fs);
    expect(problems).toEqual([`${folder}/scratch/big: bad sector`]);
    expect(await disk.list(`${backupFolder}/workspace/instances/coder~one/scratch`)).toEqual(['small']);
    expect(await messageIds(await openRestored(disk), one)).toEqual(['input-e1', 'answer-e1']);
  });
});

test('a conversation that is closed after the copy of its log keeps the mark of its last owner', async () => {
  const disk = SimulatedDisk.empty();
  const roomy = { ...limits, checkpointBytes: 1_000_000, archive: { bytes: 1_000_000, files: 2 } };
  const journal = await openOriginal(disk, roomy);
  await handleTurn(journal, one, 'a');
  await journal.close(one);
  await handleTurn(journal, one, 'b');
  await backUp(disk, isReadOf(`${folder}/lock`), () => journal.close(one));
  await restoreBackup(disk);
  await disk.remove('/other/workspaces/x/instances/coder~one/messages/events.jsonl');
  const again = await openJournal(simulatedMachine(disk, 1), to, roomy);
  // Without the mark, the checkpoint would count as the whole conversation.
  expect(await rejectionOf(again.read(one))).toMatchObject({ code: 'E_STORE_CORRUPT' });
});

test('two backups that begin in the same folder at the same moment both fail, and nothing is left of them', async () => {
  const disk = SimulatedDisk.empty();
  const journal = await openOriginal(disk);
  await handleTurn(journal, one, 'e1');
  await journal.close();
  const bothHaveLooked = Promise.withResolvers<void>();
  let looks = 0;
  const fs: BundleFs = gatedFs(simulatedBundleDisk(disk), async (operation, path) => {
    // Both find the folder empty, before one of them marks it.
    if (operation !== 'openFile' || path !== `${backupFolder}/incomplete`) return;
    looks += 1;
    if (looks === 2) bothHaveLooked.resolve();
    await bothHaveLooked.promise;
  });
  const ended = await Promise.allSettled([1, 2].map(() => backUpOriginal(disk, fs)));
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const problem = `${backupFolder} is used by another backup.`;
  expect(ended).toContainEqual(
    expect.objectContaining({ reason: expect.objectContaining({ code: 'E_BACKUP_FOLDER', message: problem }) }),
  );
  expect(await disk.list(backupFolder)).toBeUndefined();
});

const answered: QuestionRecord = {
  id: 'approval-1',
  agent: 'coder',
  instanceKey: 'one',
  eventId: 'e1',
  traceId: 'trace',
  key: '0/approval',
  toolCallId: 'call-1',
  toolName: 'shell__run',
  kind: 'call',
  args: {},
  digest: 'd',
  reason: 'r',
  askedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-02T00:00:00.000Z',
  answer: { decision: 'approved', decidedAt: '2026-01-01T00:01:00.000Z' },
};

test.each(['approvals.jsonl', 'instances/coder~one/messages/events.jsonl'])(
  'the answer of a person that its turn takes during the backup is not lost (before the read of %s)',
  async (path) => {
    const disk = SimulatedDisk.empty();
    const journal = await openOriginal(disk);
    await journal.accept(one, simpleEvent('e1'));
    const [entry] = await journal.pendingEntries(one);
    const { epoch } = await journal.open(one, 'turn-e1', entry);
    const asked = { type: 'intent', key: '0/approval', kind: 'approval' } as const;
    await journal.append(one, epoch, 0, [asked]);
    const questions = await QuestionFile.open(simulatedMachine(disk, 0), from);
    await questions.put(answered);
    const taken = { type: 'effect', key: '0/approval', kind: 'approval', outcome: { ok: true, value: 'yes' } } as const;
    let isTaken = false;
    await backUp(disk, isReadOf(`${workspace}/${path}`), async () => {
      isTaken = true;
      // In this order an agent process takes an answer.
      await journal.append(one, epoch, 1, [taken]);
      await questions.remove(answered.id);
    });
    expect(isTaken).toBe(true);
    const again = await openRestored(disk);
    const [waiting] = await again.pendingEntries(one);
    const { log } = await again.open(one, 'turn-e1', waiting);
    const kept = await (await QuestionFile.open(simulatedMachine(disk, 1), to)).list();
    const isThere = log.some(({ type }) => type === 'effect') || kept.some(({ answer }) => answer !== undefined);
    expect(isThere).toBe(true);
    await again.close();
    await journal.close();
  },
);
