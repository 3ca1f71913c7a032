/**
 * Stores the newest description of each agent, for commands that do not run the agent (`gdn explain`). Each agent has
 * one file in `<workspace>/layers`. The runtime never reads these files to run an agent.
 *
 * Invariants:
 * 1. Recording never delays or fails a start: problems are reported as warnings.
 * 2. Descriptions are written one at a time. Each agent has at most one queued description, and a newer one replaces
 *    it.
 * 3. An unchanged description is not written again. A different time at which tools were seen does not count as a
 *    change.
 * 4. Tools that an extension offered earlier stay until its current tools are known (`keep-known-tools.ts`).
 */
import { type AgentDescription, agentDescription } from '../../ipc/from-agent.ts';
import { type Check, flag, name, object, optional, text } from '../../ipc/check/shape.ts';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { layersFolder, layersPath, workspaceFolder, type StorePlace } from '../layout/instance-paths.ts';
import { makeFolders, makeFoldersBelow } from '../layout/make-folders.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { keepKnownTools } from './keep-known-tools.ts';

/** A description of an agent, and the `partsDigest` of its declarations at that time. */
export interface LoadedAgent extends AgentDescription {
  readonly digest: string;
  /** True when only the tools of extensions are known, because a server was tested before the agent's first start. */
  readonly neverStarted?: boolean;
}

export interface RecordedAgent extends LoadedAgent {
  /** The time at which an agent with this description first became ready in that run. */
  readonly recordedAt: string;
}

/**
 * The maximum size of a file in bytes, which is more than the largest frame in which an agent can send its description.
 */
const LONGEST_FILE = 16 * 1024 * 1024;

/** The place of the descriptions. */
export interface DescriptionsPlace extends StorePlace {
  /** True when the recorder may make the workspace, because no swarm has run in it yet. */
  readonly mayMakeWorkspace?: boolean;
}

export function recordDescriptions(place: DescriptionsPlace) {
  const { stateRoot, workspaceId, clock = systemClock, mayMakeWorkspace = false } = place;
  const fs = codedFs(place.fs ?? systemFs);
  const workspace = workspaceFolder(stateRoot, workspaceId);
  const waiting = new Map<string, LoadedAgent>();
  const written = new Map<string, string>();
  /** The last recorded description of each agent, from this run or an earlier one. */
  const known = new Map<string, LoadedAgent | undefined>();
  let writing: Promise<void> | undefined;
  return {
    record(agentName: string, loaded: LoadedAgent): void {
      waiting.set(agentName, loaded);
      writing ??= writeAll();
    },
    /** Resolves when every recorded description is on disk, or its failure was reported as a warning. */
    settled: async () => writing,
  };

  async function writeAll(): Promise<void> {
    // The pause makes the write start in a later tick than the one in which the agent became ready.
    await Promise.resolve();
    for (let [next] = waiting; next !== undefined; [next] = waiting) {
      const [agentName, loaded] = next;
      waiting.delete(agentName);
      await write(agentName, loaded);
    }
    // `writing` is cleared in the same tick as the last check, so that a later call of `record` starts another round.
    writing = undefined;
  }

  async function write(agentName: string, described: LoadedAgent): Promise<void> {
    const path = layersPath(workspace, agentName);
    try {
      if (described.unknown !== undefined && !known.has(agentName)) {
        known.set(agentName, await readDescription({ stateRoot, workspaceId, fs }, agentName));
      }
      const loaded = keepKnownTools(described, known.get(agentName));
      known.set(agentName, loaded);
      const made = JSON.stringify(loaded, (key, value: unknown) => (key === 'seenAt' ? undefined : value));
      if (written.get(agentName) === made) return;
      const recordedAt = clock.now().toISOString();
      const line = JSON.stringify({ agent: agentName, recordedAt, ...loaded });
      const folder = layersFolder(workspace);
      await (mayMakeWorkspace ? makeFolders(fs, stateRoot, folder) : makeFoldersBelow(fs, workspace, folder));
      await replaceFile(fs, path, new TextEncoder().encode(`${line}\n`));
      written.set(agentName, made);
    } catch (error) {
      place.warn?.({ path, message: error instanceof Error ? error.message : String(error) });
    }
  }
}

/**
 * Reads the stored description. Returns `undefined` when the agent never became ready, or the file is not a description.
 * **Errors** — `E_STORE_READ`.
 */
export async function readDescription(
  { stateRoot, workspaceId, fs = systemFs }: StorePlace,
  agentName: string,
): Promise<RecordedAgent | undefined> {
  const path = layersPath(workspaceFolder(stateRoot, workspaceId), agentName);
  const bytes = await codedFs(fs).read(path, 0, LONGEST_FILE);
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const header = fileHeader(value);
    if (header.agent !== agentName) return undefined;
    const { digest, recordedAt, neverStarted } = header;
    return { ...agentDescription(value), digest, recordedAt, ...(neverStarted !== undefined && { neverStarted }) };
  } catch {
    // The file is only for display, so a damaged file counts as missing.
    return undefined;
  }
}

const fileHeader: Check<{ agent: string; digest: string; recordedAt: string; neverStarted?: boolean }> = object({
  agent: name,
  digest: text,
  recordedAt: name,
  neverStarted: optional(flag),
});
