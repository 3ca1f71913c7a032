/**
 * The records for people of all instances of a workspace: traces and runtime events. This process has each of the logs
 * open once, however many of its instances write to it.
 */
import { basename } from 'node:path';
import type { AgentAddress, JsonObject } from '@goondan/types';
import { RUNTIME_EVENTS, runtimeEventWriter } from '../archive/runtime-events.ts';
import { instanceFolderName, logsFolder, tracesFolder } from '../layout/instance-paths.ts';
import { makeFoldersBelow } from '../layout/make-folders.ts';
import type { StoreLimits } from '../limits.ts';
import type { LineWriter } from '../lines/gathered-log.ts';
import { SharedLog } from '../lines/shared-log.ts';
import type { StorePorts } from '../store-ports.ts';
import { eraseRecords } from '../traces/erase-records.ts';
import { indexPath, TRACES, writeIndexes } from '../traces/trace-index.ts';
import { TraceWriter, type TurnLine } from '../traces/trace-writer.ts';
import { deletionOf } from './delete-instance.ts';

export class RecordLogs {
  readonly #traces: OpenLog;
  readonly #events: OpenLog;

  /** `workspace`: the folder of the workspace, which exists. */
  constructor(
    private readonly ports: Pick<StorePorts, 'fs' | 'clock'>,
    private readonly workspace: string,
    private readonly limits: Pick<StoreLimits, 'traces' | 'runtimeEvents'>,
  ) {
    const { fs, clock } = ports;
    const folder = tracesFolder(workspace);
    this.#traces = new OpenLog(
      new SharedLog({
        fs,
        clock,
        folder,
        stem: TRACES,
        limits: limits.traces,
        onFull: (numbers) => writeIndexes(fs, folder, numbers),
        onDeleted: (number) => fs.remove(indexPath(folder, number)),
      }),
    );
    const events = { stem: RUNTIME_EVENTS, limits: limits.runtimeEvents };
    this.#events = new OpenLog(new SharedLog({ fs, clock, folder: logsFolder(workspace), ...events }));
  }

  async openTraces(instance: AgentAddress): Promise<LineWriter<TurnLine>> {
    await this.#makeFolder(tracesFolder(this.workspace));
    const close = this.#traces.use();
    return new TraceWriter(this.#traces.log, nameOf(instance), this.limits.traces.turnBytes, close);
  }

  async openRuntimeEvents(instance: AgentAddress): Promise<LineWriter<JsonObject>> {
    await this.#makeFolder(logsFolder(this.workspace));
    return runtimeEventWriter(this.#events.log, nameOf(instance), this.#events.use());
  }

  /** Erases the records of the deleted instance whose folder was put aside under this path. */
  async erase(aside: string): Promise<void> {
    const { instance, deletedAt } = deletionOf(basename(aside)) ?? {};
    if (instance !== undefined && deletedAt !== undefined)
      await eraseRecords(this.ports.fs, this.workspace, instance, deletedAt);
  }

  async #makeFolder(folder: string): Promise<void> {
    // The folder is there for almost every instance, and making it durable would cost each of them a sync.
    if ((await this.ports.fs.stat(folder)) === undefined) await makeFoldersBelow(this.ports.fs, this.workspace, folder);
  }
}

function nameOf({ agentName, instanceKey }: AgentAddress): string {
  return instanceFolderName(agentName, instanceKey);
}

/** A log that is closed when its last user is done. */
class OpenLog {
  #users = 0;

  constructor(readonly log: SharedLog) {}

  /** Adds a user. Returns the function with which the user is done. */
  use(): () => Promise<void> {
    this.#users += 1;
    let isDone = false;
    return async () => {
      if (isDone) return;
      isDone = true;
      this.#users -= 1;
      if (this.#users === 0) await this.log.close();
    };
  }
}
