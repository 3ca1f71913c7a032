/** An open instance in its files: the log, checkpoints, states of extensions and the lock. */
import type { Message } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import type { StoreLimits } from '../limits.ts';
import type { Lock } from '../lock/acquire-lock.ts';
import type { DiskPace } from '../log-file/disk-pace.ts';
import { placeExtensions, prepareExtensions } from '../records/extension-files.ts';
import type { FinishedTurns } from '../records/finished-turns.ts';
import type { LogState } from '../records/log-state.ts';
import { CheckpointFiles } from './checkpoint-files.ts';
import type { EntrySource } from './index-notes.ts';
import type { InstanceLog } from './instance-log.ts';
import type { InstancePlace, StateTexts } from './instance-place.ts';
import { loadInstance, type LoadedInstance } from './load-instance.ts';
import { LONGEST_STATE } from './plan-commit.ts';

export class InstanceFiles implements InstancePlace {
  readonly name: string;
  readonly clock: Clock;
  readonly limits: StoreLimits;
  readonly state: LogState;
  readonly finished: FinishedTurns;
  readonly texts: StateTexts;
  readonly log: InstanceLog;
  readonly longestState = LONGEST_STATE;
  readonly #checkpoints: CheckpointFiles;
  #entry: Awaited<ReturnType<EntrySource>>;

  private constructor(
    private readonly stored: StoredInstance,
    private readonly lock: Lock,
    loaded: LoadedInstance,
  ) {
    this.name = stored.paths.folder;
    this.clock = stored.clock;
    this.limits = stored.limits;
    this.state = loaded.state;
    this.finished = loaded.finished;
    this.texts = loaded.texts;
    this.log = loaded.log;
    this.#checkpoints = new CheckpointFiles(stored, loaded);
  }

  /**
   * Loads the files; the folder of the instance must exist and be locked. Returns `closedBy` if the checkpoint says that
   * the epoch of the lock writes nothing any more. **Errors** — those of `loadInstance`.
   */
  static async load(
    stored: StoredInstance,
    pace: DiskPace,
    lock: Lock,
  ): Promise<InstanceFiles | { readonly closedBy: number }> {
    const loaded = await loadInstance(stored, pace);
    const { closedBy } = loaded.metadata.checkpoint;
    if (closedBy < lock.epoch) return new InstanceFiles(stored, lock, loaded);
    await loaded.log.close();
    return { closedBy };
  }

  /** True if the checkpoint has the epoch of this owner. */
  get isRecorded(): boolean {
    return this.#checkpoints.closedBy === this.lock.epoch;
  }

  /** The entry for the index, once the files are finished. */
  get entry(): Awaited<ReturnType<EntrySource>> {
    return this.#entry;
  }

  get isDue(): boolean {
    return this.#checkpoints.isDue;
  }

  /** Describes the instance for the index. */
  describe(): ReturnType<EntrySource> {
    return this.#checkpoints.describe();
  }

  isHeld(): boolean {
    return this.lock.isHeld();
  }

  warn(part: 'log' | 'instance', message: string): void {
    const { paths, warn } = this.stored;
    warn({ path: part === 'log' ? paths.events : paths.folder, message });
  }

  readBase(): Promise<readonly Message[]> {
    return this.#checkpoints.readBase();
  }

  prepareStates(texts: StateTexts, names: readonly string[]): Promise<void> {
    return prepareExtensions(this.stored, texts, names);
  }

  placeStates(names: readonly string[]): Promise<void> {
    return placeExtensions(this.stored, names);
  }

  maintain(texts: StateTexts): Promise<void> {
    return this.#checkpoints.maintain(texts);
  }

  /** Writes a last checkpoint and trims the log. If the checkpoint fails, the next one includes it. */
  async finish(texts: StateTexts): Promise<void> {
    this.#entry = await this.#checkpoints.finish(texts, this.lock.epoch);
  }
}
