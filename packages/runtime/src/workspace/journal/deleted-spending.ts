/**
 * Keeps the model calls of deleted instances in one file of the workspace, without the keys of the instances, because
 * money that was spent stays spent.
 *
 * A deleted folder is added before its files are removed, and its name is in the file until they are. So a deletion that a
 * crash interrupts counts once, whenever it is finished.
 */
import { basename, dirname } from 'node:path';
import { type InstanceSpending, keepRecent, SpendingSum } from '../../usage/spending.ts';
import { deletedSpendingPath } from '../layout/instance-paths.ts';
import { seal } from '../lines/seal-lines.ts';
import { readLines } from '../lines/read-lines.ts';
import { replaceFile } from '../lines/replace-file.ts';
import type { StorePorts } from '../store-ports.ts';
import { deletionOf } from './delete-instance.ts';
import { readFolderSpending } from './folder-spending.ts';

export interface DeletedSpending {
  readonly spendings: readonly InstanceSpending[];
  /** The names of deleted folders that are counted, and may still have files. */
  readonly folders: readonly string[];
}

/** Reads the file. A damaged file is reported, and read as an empty one. */
export async function readDeletedSpending({ fs, warn }: StorePorts, workspace: string): Promise<DeletedSpending> {
  const path = deletedSpendingPath(workspace);
  const bytes = await fs.read(path);
  if (bytes === undefined) return { spendings: [], folders: [] };
  const { lines, damage, torn } = readLines(bytes);
  // Safe: the checksum was verified, so `keepDeletedSpending` wrote the line.
  const fields = damage || torn ? undefined : (lines[0]?.fields as unknown as DeletedSpending | undefined);
  if (fields !== undefined) return { spendings: fields.spendings, folders: fields.folders };
  warn({ path, message: 'is damaged: the usage of deleted conversations is not known' });
  return { spendings: [], folders: [] };
}

/** Adds the calls of a deleted folder, once. Only for the owner of the workspace. **Errors** — those of the disk. */
export async function keepDeletedSpending(ports: StorePorts, workspace: string, aside: string): Promise<void> {
  const { fs, clock } = ports;
  const name = basename(aside);
  if (deletionOf(name) === undefined) return;
  const before = await readDeletedSpending(ports, workspace);
  if (before.folders.includes(name)) return;
  const found = await readFolderSpending(ports, aside);
  if (typeof found === 'string') ports.warn({ path: aside, message: `its usage is lost: ${found}` });
  if (typeof found === 'string' || found.length === 0) return;
  const sum = new SpendingSum(before.spendings);
  sum.add(found.map(({ instanceKey: _, ...spending }) => spending));
  const left = new Set((await fs.list(dirname(aside))) ?? []);
  const folders = [...before.folders.filter((each) => left.has(each)), name];
  const spendings = keepRecent(sum.list(), clock.now().getTime());
  const line = seal(JSON.stringify({ seq: 1, spendings, folders }));
  await replaceFile(fs, deletedSpendingPath(workspace), Buffer.from(line));
}
