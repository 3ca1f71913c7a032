/**
 * Everything a command has started that still lives, from /proc: what carries its tag, what is in its session or group,
 * and what any of those started. An environment is handed on to every program, so what has left the session and lost its
 * parent is still found. Only a program that did both and was given an empty environment is not.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** A command that leads a session of its own, started with `tag` in its environment. */
export interface TreeRoot {
  readonly pid: number;
  readonly tag: ProcessTag;
}

/** `NAME=value`, as it stands in an environment. */
export type ProcessTag = `${string}=${string}`;

/** Made for one command, so that nothing else is found by it. */
export function newProcessTag(): ProcessTag {
  return `GOONDAN_COMMAND=${crypto.randomUUID()}`;
}

/** False where there is no /proc to read: then only the group of the root can be reached. */
export function canReadTree(): boolean {
  return readProc('self', 'environ') !== undefined;
}

/** Not the dead that nobody has buried yet, and never this process. */
export function readTree({ pid: root, tag }: TreeRoot): number[] {
  const entries = listPids().flatMap((pid) => readEntry(pid) ?? []);
  const chosen = new Set<number>();
  for (const { pid, group, session } of entries) {
    if (pid === root || group === root || session === root || carriesTag(pid, tag)) chosen.add(pid);
  }
  const children = Map.groupBy(entries, ({ parent }) => parent);
  // A set that grows while it is walked is walked to its new end.
  for (const pid of chosen) for (const child of children.get(pid) ?? []) chosen.add(child.pid);
  chosen.delete(process.pid);
  return entries.filter(({ pid }) => chosen.has(pid)).map(({ pid }) => pid);
}

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function readEntry(pid: number): Entry | undefined {
  const stat = readProc(pid, 'stat')?.toString();
  if (stat === undefined) return undefined;
  // The name stands in brackets and may hold anything, brackets too.
  const [state, parent, group, session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (state === 'Z' || state === 'X') return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session) };
}

function carriesTag(pid: number, tag: ProcessTag): boolean {
  const environment = readProc(pid, 'environ');
  return environment?.toString('latin1').split('\0').includes(tag) ?? false;
}

/** Undefined when the process is gone meanwhile, or is not ours to look at. */
function readProc(pid: number | 'self', file: string): Buffer | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return undefined;
  }
}
