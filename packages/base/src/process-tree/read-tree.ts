/**
 * Finds every living process that a command has started, from /proc: processes with the command's tag, in its session
 * or process group, and their children. Child processes inherit the environment, so even a process that left the
 * session and lost its parent is found, unless it also cleared its environment.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** The root of a process tree: a command that leads its own session and was started with `tag` in its environment. */
export interface TreeRoot {
  readonly pid: number;
  readonly tag: ProcessTag;
}

/** An environment entry `NAME=value` that marks processes. */
export type ProcessTag = `${string}=${string}`;

/** Creates a tag that is unique to one command. */
export function newProcessTag(): ProcessTag {
  return `GOONDAN_COMMAND=${crypto.randomUUID()}`;
}

/** Tells whether /proc can be read. Without /proc only the process group of the root can be reached. */
export function canReadTree(): boolean {
  return readProc('self', 'environ') !== undefined;
}

/** Lists the pids of the tree, without zombies and without this process. */
export function readTree({ pid: root, tag }: TreeRoot): number[] {
  const entries = listPids().flatMap((pid) => readEntry(pid) ?? []);
  const chosen = new Set<number>();
  for (const { pid, group, session } of entries) {
    if (pid === root || group === root || session === root || carriesTag(pid, tag)) chosen.add(pid);
  }
  const children = Map.groupBy(entries, ({ parent }) => parent);
  // The loop also visits entries that it adds to the set.
  for (const pid of chosen) for (const child of children.get(pid) ?? []) chosen.add(child.pid);
  chosen.delete(process.pid);
  return entries.filter(({ pid }) => chosen.has(pid)).map(({ pid }) => pid);
}

function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function readEntry(pid: number) {
  const stat = readProc(pid, 'stat')?.toString();
  if (stat === undefined) return undefined;
  // The process name is in parentheses and may itself contain parentheses.
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session) };
}

function carriesTag(pid: number, tag: ProcessTag): boolean {
  const environment = readProc(pid, 'environ');
  return environment?.toString('latin1').split('\0').includes(tag) ?? false;
}

/** Reads a file of a process from /proc. Returns undefined when the process has exited or the file cannot be read. */
function readProc(pid: number | 'self', file: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return undefined;
  }
}
