/**
 * Decides which tools of a server are offered. A pure function of the listed, the known and the approved tools.
 *
 * 1. A tool that changed since it was first seen is not offered until a person approves the change.
 * 2. Once a version is approved, changes are judged against the approved version instead of the first one.
 * 3. With `trust: pinned` only approved tools are offered; with `trust: any` all tools of the server.
 */
import { compileGlob } from '../../pattern/compile-glob.ts';
import { fingerprintOf } from './fingerprint.ts';
import type { ListedTool } from './mcp-client.ts';
import type { ToolFilter, Trust } from './mcp-settings.ts';

/** Fingerprints by the server's name for the tool. */
export type Fingerprints = ReadonlyMap<string, string>;

/** A tool that is withheld until the server changes it or a person approves it. */
export interface Withheld {
  readonly tool: ListedTool;
  readonly fingerprint: string;
  readonly reason: 'changed' | 'unapproved' | 'unusable';
  /** The reason why the tool is withheld, for people. */
  readonly problem: string;
}

export interface Knowledge {
  readonly seen: Fingerprints;
  readonly approved: Fingerprints;
  readonly trust: Trust;
  readonly filter: ToolFilter;
}

/** The maximum number of tools of one server; the rest of its list is ignored. */
export const MOST_TOOLS = 256;
/** The maximum number of remembered tools. Beyond it, a new tool needs approval, whatever the setting `trust` is. */
export const MOST_SEEN = 1_024;
/** The maximum length of a schema as JSON, in characters. */
const LARGEST_SCHEMA = 65_536;
const LONGEST_NAME = 256;

/** Returns the offered and the withheld tools. `seen` holds the fingerprints to remember from now on. */
export function judgeTools(listed: readonly ListedTool[], knowledge: Knowledge) {
  const offered: ListedTool[] = [];
  const withheld: Withheld[] = [];
  const seen = new Map(knowledge.seen);
  const names = new Set<string>();
  for (const tool of listed.slice(0, MOST_TOOLS)) {
    if (names.has(tool.name) || !passes(tool.name, knowledge.filter)) continue;
    names.add(tool.name);
    const fingerprint = fingerprintOf(tool);
    const objection = findUse(tool) ?? findChange(tool, fingerprint, { ...knowledge, seen });
    if (objection === undefined) {
      offered.push(tool);
      seen.set(tool.name, fingerprint);
    } else withheld.push({ tool, fingerprint, ...objection });
  }
  return { offered, withheld, seen };
}

type Objection = Pick<Withheld, 'reason' | 'problem'>;

function findUse({ name, inputSchema, execution }: ListedTool): Objection | undefined {
  const unusable = (problem: string): Objection => ({ reason: 'unusable', problem });
  if (name === '' || name.length > LONGEST_NAME) return unusable(`its name has ${name.length} characters`);
  if (execution?.taskSupport === 'required') return unusable('it can only be called as a task');
  const size = JSON.stringify(inputSchema).length;
  return size > LARGEST_SCHEMA ? unusable(`its schema has ${size} characters`) : undefined;
}

function findChange(
  { name }: ListedTool,
  fingerprint: string,
  { seen, approved, trust }: Knowledge,
): Objection | undefined {
  const pinned = approved.get(name);
  if (pinned === fingerprint) return undefined;
  const known = pinned ?? seen.get(name);
  if (known === undefined && seen.size >= MOST_SEEN) {
    return { reason: 'unapproved', problem: `the server has had more than ${MOST_SEEN} tools` };
  }
  if (trust === 'any') return undefined;
  if (known !== undefined && known !== fingerprint) {
    return { reason: 'changed', problem: 'its description or schema has changed' };
  }
  return trust === 'pinned' ? { reason: 'unapproved', problem: 'nobody has approved it' } : undefined;
}

function passes(name: string, { allow, deny = [] }: ToolFilter): boolean {
  const matches = (pattern: string) => compileGlob(pattern)(name) === true;
  return !deny.some(matches) && (allow === undefined || allow.some(matches));
}
