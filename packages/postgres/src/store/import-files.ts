/**
 * Copies a stopped swarm on files into the database. An instance appears by one statement, completely or not at all. An
 * import that was interrupted can be repeated: an instance that is there and equal is skipped.
 */
import { exportStoppedSwarm, nameInstance, type SwarmExport } from '@goondan/runtime/internal';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { repeating } from '../driver/repeat.ts';
import type { Blobs } from '@goondan/runtime/history';
import { postgresBlobs } from './blobs.ts';
import { openDescriptions } from './describe-swarm.ts';
import { beginImport, importInstance } from './import-instance.ts';
import { importQuestion, importConnection, importDeletedSpending, importTrace } from './import-records.ts';

export interface ImportedFiles {
  readonly stateRoot: string;
  readonly workspaceId: string;
  /** See `startSwarm`. */
  readonly flock?: boolean;
}

export interface ImportProgress {
  /** The instances that were copied, those that were there before, and all. */
  readonly imported: number;
  readonly skipped: number;
  readonly instances: number;
  /** The recorded turns that were copied. */
  readonly traces: number;
}

export interface ImportResult extends ImportProgress {
  /** An error for each part that was not copied, with its name. */
  readonly problems: readonly GoondanError[];
}

export interface ImportOptions {
  readonly onProgress?: (progress: ImportProgress) => void;
  /** Called with each repair of a file. */
  readonly onWarning?: (warning: string) => void;
  readonly signal?: AbortSignal;
  /** The time for which a database that is away is waited for, in each statement; 30 s when absent. */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 30_000;

/**
 * Copies the swarm of a workspace: conversations with their history and their input, questions, traces, and the folders of
 * connections, so that a schedule goes on from its place. Log lines and runtime events are records for people of the runs on
 * files, and stay there. `swarm`: its name in the database. A damaged instance is not copied, and neither is one
 * that has another content in the database; both are problems, and the others are copied.
 *
 * **Errors** — `E_SWARM_RUNNING` when the swarm runs, `E_SWARM_UNKNOWN` when none ever ran there; those of the database
 * and of the disk; the reason of the signal.
 */
export function importFiles(
  files: ImportedFiles,
  given: Database,
  swarm: string,
  { onProgress = () => undefined, onWarning = () => undefined, signal, patienceMs = PATIENCE_MS }: ImportOptions = {},
): Promise<ImportResult> {
  const database = patient(given, patienceMs, signal);
  const warn = ({ path, message }: { readonly path: string; readonly message: string }) =>
    onWarning(`${path}: ${message}`);
  return exportStoppedSwarm({ ...files, swarm, warn }, async (source) => {
    const { instances, problems: unknown } = await source.list();
    const problems = unknown.map(({ path, message }) => new GoondanError('E_STORE_CORRUPT', `${path}: ${message}`));
    const progress = { imported: 0, skipped: 0, instances: instances.length, traces: 0 };
    await beginImport(database, swarm);
    const blobs = postgresBlobs({ query: (statement, values) => database.query(statement, values), swarm });
    await importFacts(source, database, swarm);
    const questions = Map.groupBy(await source.questions(), ({ agent, instanceKey }) => keyOf(agent, instanceKey));
    for (const instance of instances) {
      signal?.throwIfAborted();
      try {
        const digests = await importBlobs(source, blobs, instance);
        const isNew = await importInstance(database, swarm, instance, await source.read(instance));
        await blobs.named(instance, digests);
        progress[isNew ? 'imported' : 'skipped'] += 1;
        // Only with a copied conversation: an answer for always must not be valid in another one, nor come back after it
        // was revoked. A question that an interrupted import leaves out is asked again.
        const own = isNew ? (questions.get(keyOf(instance.agentName, instance.instanceKey)) ?? []) : [];
        for (const record of own) {
          const problem = await importQuestion(database, swarm, record);
          if (problem) problems.push(problem);
        }
      } catch (error) {
        if (!isOfInstance(error)) throw error;
        problems.push(naming(instance, error));
      }
      onProgress({ ...progress });
    }
    await importDeletedSpending(database, swarm, await source.deletedSpending());
    for await (const [name, packed] of source.connections()) {
      const problem = GoondanError.is(packed)
        ? new GoondanError(packed.code, `Connection "${name}": ${packed.message}`, { cause: packed })
        : await importConnection(database, swarm, name, packed);
      if (problem) problems.push(problem);
    }
    for await (const trace of source.traces()) {
      signal?.throwIfAborted();
      if (await importTrace(database, swarm, trace)) progress.traces += 1;
      onProgress({ ...progress });
    }
    return { ...progress, problems };
  });
}

function keyOf(agent: string, instanceKey: string): string {
  return JSON.stringify([agent, instanceKey]);
}

/** Copies the files of an instance before the instance itself. */
async function importBlobs(
  source: SwarmExport<unknown>,
  blobs: Blobs,
  instance: AgentAddress,
): Promise<readonly string[]> {
  const digests = await source.files(instance);
  for (const digest of digests) await blobs.put(instance, await source.readFile(digest));
  return digests;
}

/** Every statement of an import can be repeated. */
function patient(database: Database, patienceMs: number, signal: AbortSignal | undefined): Database {
  return {
    ...database,
    query(statement, values) {
      const end = performance.now() + patienceMs;
      return repeating(database, () => performance.now() < end && signal?.aborted !== true)(statement, values);
    },
  };
}

/** Copies the facts that only readers use, before anything else: a node that starts later replaces them. */
async function importFacts(source: SwarmExport<unknown>, database: Database, swarm: string): Promise<void> {
  const failed = (problem: string): never => {
    throw new GoondanError('E_STORE_WRITE', problem);
  };
  const { describeSwarm, describeAgent } = openDescriptions(database, swarm, failed);
  const record = source.swarm();
  if (record)
    await describeSwarm({ swarm: record.swarm, ...(record.folder !== undefined && { folder: record.folder }) });
  for await (const [agentName, description] of source.descriptions()) await describeAgent(agentName, description);
}

const OF_INSTANCE: readonly string[] = ['E_INSTANCE_EXISTS', 'E_STORE_CORRUPT', 'E_STORE_INSTANCE', 'E_STORE_READ'];

function isOfInstance(error: unknown): error is GoondanError {
  return GoondanError.is(error) && OF_INSTANCE.includes(error.code);
}

function naming(instance: AgentAddress, error: GoondanError): GoondanError {
  const name = nameInstance(instance);
  if (error.message.includes(name)) return error;
  return new GoondanError(error.code, `${name[0]?.toUpperCase()}${name.slice(1)}: ${error.message}`, { cause: error });
}
