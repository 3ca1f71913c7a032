/**
 * The only writer of one instance. It implements `open`, `append` and `commit` of the conversation store on disk.
 *
 * Invariants: 1. Records are durable, in order, when `append` resolves. 2. Messages of a turn enter the base only after
 * the commit record includes the turn. 3. Events are handled in the order of acceptance. 4. A writer with an old epoch,
 * or without its lock, changes nothing.
 */
import { type AgentEvent, GoondanError, type JsonValue, type Message, type TurnResult } from '@goondan/types';
import type {
  BaseDelta,
  ConversationSnapshot,
  OpenTurn,
  TurnRecord,
} from '../../agent/conversation/conversation-store.ts';
import { countCrashes } from '../records/dead-letter.ts';
import type { InboxEntry } from '../inbox/inbox-lines.ts';
import { findEntry, InboxReader } from '../inbox/inbox-reader.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import type { AppendLog } from '../lines/append-log.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { FailStop } from '../lines/fail-stop.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { sealLines } from '../lines/seal-lines.ts';
import { together } from '../lines/together.ts';
import type { Lock } from '../lock/acquire-lock.ts';
import { applyCommit, commitPlan } from './apply-commit.ts';
import { createInstance } from './create-instance.ts';
import { parseExtensions, placeExtensions } from '../records/extension-files.ts';
import { closeInstanceFiles } from './instance-files.ts';
import { InstanceQueues } from './instance-queues.ts';
import { logRecord, type LoggedRecord } from '../records/logged-record.ts';
import { decodeBase } from '../../messages/message-text.ts';
import {
  encodeMetadata,
  logStart,
  refuseOtherInstance,
  stateVersionOf,
  type CommitRecord,
  type InstanceMetadata,
  matches,
} from '../records/metadata.ts';
import { planCommit, type CommitPlan } from './plan-commit.ts';
import { planReset } from './plan-reset.ts';
import { planStates } from './plan-states.ts';
import { readMetadata } from '../records/read-metadata.ts';
import { recover } from './recover.ts';
import { turnIdOf } from '../../ports/ids.ts';
import { shortTurnId } from '../../ports/turn-ids.ts';

export class InstanceWriter {
  readonly #serial: FailStop;
  readonly #inbox: InboxReader;
  #metadata: InstanceMetadata;
  #extensions: ReadonlyMap<string, string>;
  #log: LoggedRecord[];
  /** The running turn, and its event if the event came through the inbox. */
  #turn: { readonly turnId: string; readonly epoch: number; readonly entry: InboxEntry | undefined } | undefined;

  private constructor(
    private readonly stored: StoredInstance,
    private readonly lock: Lock,
    private readonly nextEpoch: () => number,
    private readonly queues: InstanceQueues,
    private readonly recovered: Awaited<ReturnType<typeof recover>>,
    metadata: InstanceMetadata,
  ) {
    this.#serial = new FailStop(stored.paths.folder);
    this.#inbox = new InboxReader(stored);
    this.#metadata = metadata;
    this.#extensions = recovered.extensions;
    this.#log = [...recovered.log];
  }

  /**
   * Loads the writer; the folder of the instance must exist and be locked. `nextEpoch` returns a higher epoch at each
   * call. **Errors** — those of `recover`, and `E_STORE_INSTANCE`.
   */
  static async load(stored: StoredInstance, lock: Lock, nextEpoch: () => number): Promise<InstanceWriter> {
    const found = await readMetadata(stored);
    if (found) refuseOtherInstance(stored.paths.metadata, stored.address, found);
    const metadata = found ?? (await createInstance(stored));
    const queues = await InstanceQueues.open(stored);
    try {
      const recovered = await recover(stored, metadata, queues);
      return new InstanceWriter(stored, lock, nextEpoch, queues, recovered, metadata);
    } catch (error) {
      await queues.close();
      throw error;
    }
  }

  /** True after a disk error: every call is rejected until the writer is loaded again. */
  get failed(): boolean {
    return this.#serial.failed;
  }

  open(turnId: string): Promise<OpenTurn> {
    return this.#run(async () => {
      const pending = await this.#inbox.pending(this.#metadata.commit.inbox);
      const entry = findEntry(pending, turnId);
      const finished = this.recovered.finished.get(turnId);
      if (finished) {
        // An earlier delivery of the event has a committed turn, so this delivery is marked as handled without another
        // turn.
        if (entry && entry === pending[0]) await this.#amendCommit({ inbox: entry.seq });
        return { ...this.#openTurn(this.nextEpoch(), []), finished };
      }
      if (!entry) this.#refuseForgotten(turnId);
      this.#refuseOutOfOrder(turnId, pending, entry);
      this.queues.refuseFullOutbox();
      if (this.#log[0] && this.#log[0].turnId !== turnId) await this.#discardLog(this.#log[0].turnId);
      this.#turn = { turnId, epoch: this.nextEpoch(), entry };
      return this.#openTurn(this.#turn.epoch, this.#log);
    });
  }

  append(epoch: number, at: number, records: readonly TurnRecord[]): Promise<void> {
    return this.#run(async () => {
      const { turnId } = this.#running(epoch);
      if (at !== this.#log.length) {
        throw outOfOrder(`Turn ${turnId} has ${this.#log.length} records; the next one cannot be at ${at}`);
      }
      const first = logStart(this.#metadata.commit) + 1 + at;
      const now = this.stored.clock.now().getTime();
      const logged = records.map((record, index) =>
        logRecord(record, { seq: first + index, with: first, turnId, isFirst: at + index === 0, at: now }),
      );
      const { events, turn } = this.recovered.files;
      // Each changed file is synced once, before `append` resolves, because a record counts only when all records
      // before it are durable.
      await together([
        appendTexts(
          events,
          logged.filter(({ record }) => record.type === 'message'),
        ),
        appendTexts(
          turn,
          logged.filter(({ record }) => record.type !== 'message'),
        ),
      ]);
      this.#log.push(...logged);
    });
  }

  commit(
    epoch: number,
    turnId: string,
    delta: BaseDelta,
    extensionState: Readonly<Record<string, JsonValue>>,
    result: TurnResult,
  ): Promise<void> {
    return this.#run(async () => {
      const { turnId: running, entry } = this.#running(epoch);
      if (running !== turnId) throw outOfOrder(`Turn ${turnId} is not the running one, which is ${running}`);
      if (result.error?.code === 'E_DEAD_LETTER' && entry) await this.#putLetter(entry.event, result.error.message);
      const turn = { turnId, log: this.#log, delta, extensionState, result, entry };
      const plan = planCommit(this.#metadata, this.#extensions, turn, this.stored.clock.now());
      await commitPlan(this.stored, plan);
      this.recovered.finished.add(turnId, result);
      await this.#committed(plan);
    });
  }

  /**
   * Commits extension states without a turn. Writes nothing when they equal the committed states.
   *
   * **Errors** — `E_FENCED` when another commit came after `stateVersion`, `E_STORE_ORDER` while a turn is running.
   */
  commitStates(stateVersion: number, states: Readonly<Record<string, JsonValue>>): Promise<number> {
    return this.#run(async () => {
      this.refuseInTurn('commit states');
      const { paths } = this.stored;
      const newest = stateVersionOf(this.#metadata.commit);
      if (newest !== stateVersion) {
        throw new GoondanError('E_FENCED', `${paths.folder} is at state ${newest}; this writer knows ${stateVersion}`);
      }
      const plan = planStates(this.#metadata, this.#extensions, states);
      if (!plan) return newest;
      await commitPlan(this.stored, plan);
      this.#metadata = plan.metadata;
      this.#extensions = plan.extensions;
      await this.#apply(() => placeExtensions(this.stored, plan.changed, plan.removed));
      return stateVersionOf(plan.metadata.commit);
    });
  }

  /**
   * Resets the conversation. Does nothing when the conversation is empty.
   *
   * **Errors** — `E_STORE_ORDER` while a turn is running; `E_STORE_WRITE`, also when the reset is committed but not yet
   * applied.
   */
  reset(): Promise<void> {
    return this.#run(async () => {
      this.refuseInTurn('start over');
      const { base } = this.#metadata.commit;
      if (base.bytes === 0 && this.#extensions.size === 0 && this.#log.length === 0) return;
      const { paths, clock } = this.stored;
      const plan = planReset(this.#metadata, this.#extensions, this.#log.length, clock.now());
      await commitPlan(this.stored, plan);
      await this.#committed(plan);
      // The failure is reported here, because this process may run no later turn that would report it.
      if (this.failed) throw new GoondanError('E_STORE_WRITE', `The reset of ${paths.folder} is not yet in place`);
    });
  }

  /** Throws while a turn is running. **Errors** — `E_STORE_ORDER`. */
  refuseInTurn(what: string): void {
    if (this.#turn)
      throw outOfOrder(`Turn ${this.#turn.turnId} is running: a conversation can ${what} only between turns`);
  }

  snapshot(): Promise<ConversationSnapshot> {
    return this.#serial.run(async () => ({
      version: this.#metadata.commit.version,
      stateVersion: stateVersionOf(this.#metadata.commit),
      messages: await this.#readBase(),
      extensionState: parseExtensions(this.#extensions),
    }));
  }

  pending(): Promise<readonly InboxEntry[]> {
    return this.#serial.run(async () => [...(await this.#inbox.pending(this.#metadata.commit.inbox))]);
  }

  /** Runs one action on the queues, in sequence with the actions on the conversation. */
  withQueues<T>(action: (queues: InstanceQueues) => Promise<T>): Promise<T> {
    return this.#run(() => action(this.queues));
  }

  async close(): Promise<void> {
    await this.#serial.settle();
    await together([closeInstanceFiles(this.recovered.files), this.queues.close()]);
  }

  #run<T>(action: () => Promise<T>): Promise<T> {
    return this.#serial.run(async () => {
      if (await this.lock.isHeld()) return action();
      throw new GoondanError('E_FENCED', `Another process took over ${this.stored.paths.folder}`);
    });
  }

  #running(epoch: number) {
    if (!this.#turn) throw outOfOrder('No turn is open: the last one was committed, or none was opened');
    if (this.#turn.epoch === epoch) return this.#turn;
    throw new GoondanError('E_FENCED', `Turn ${this.#turn.turnId} was opened again since; this writer is an older one`);
  }

  /**
   * Rejects a turn whose event is handled but whose result is no longer kept. Ids are kept longer than results; without
   * this check the turn would run twice.
   */
  #refuseForgotten(turnId: string): void {
    if (!this.#inbox.wasHandled(turnId)) return;
    throw new GoondanError(
      'E_TURN_FORGOTTEN',
      `The event of turn ${shortTurnId(turnId)} was handled; how that ended is no longer kept`,
    );
  }

  #refuseOutOfOrder(turnId: string, pending: readonly InboxEntry[], entry: InboxEntry | undefined): void {
    const first = pending.find(({ event }) => !this.recovered.finished.has(turnIdOf(event.id)));
    if (entry && first && first !== entry) {
      throw outOfOrder(`Turn ${turnId} cannot start: ${turnIdOf(first.event.id)} was accepted before it`);
    }
    const interrupted = this.#log[0]?.turnId;
    if (interrupted !== undefined && interrupted !== turnId && findEntry(pending, interrupted)) {
      throw outOfOrder(`Turn ${turnId} cannot start: ${interrupted} was interrupted and must be resumed first`);
    }
  }

  /**
   * Removes the log of an interrupted turn whose event is not in the inbox. Such an event was never acknowledged, and
   * no process will resume the turn.
   */
  async #discardLog(turnId: string | undefined): Promise<void> {
    const { events, turn } = this.recovered.files;
    await this.#amendCommit({ discarded: logStart(this.#metadata.commit) + this.#log.length });
    this.#log = [];
    await together([events.truncate(0), turn.truncate(0)]);
    this.stored.warn({
      path: events.path,
      message: `dropped turn ${shortTurnId(turnId ?? '')}, which had been interrupted and was not resumed`,
    });
  }

  async #amendCommit(change: Partial<CommitRecord>): Promise<void> {
    const { fs, paths } = this.stored;
    const metadata = { ...this.#metadata, commit: { ...this.#metadata.commit, ...change } };
    await replaceFile(fs, paths.metadata, encodeMetadata(metadata));
    this.#metadata = metadata;
  }

  #openTurn(epoch: number, log: readonly LoggedRecord[]): OpenTurn {
    const { version } = this.#metadata.commit;
    return {
      epoch,
      version,
      stateVersion: stateVersionOf(this.#metadata.commit),
      loadBase: () => this.#loadBase(version),
      log: log.map(({ record }) => record),
      extensionState: parseExtensions(this.#extensions),
    };
  }

  #loadBase(version: number): Promise<readonly Message[]> {
    return this.#serial.run(async () => {
      if (version === this.#metadata.commit.version) return this.#readBase();
      throw outOfOrder(`The base of version ${version} is gone: version ${this.#metadata.commit.version} is committed`);
    });
  }

  async #readBase(): Promise<Message[]> {
    const { fs, paths } = this.stored;
    const bytes = await fs.read(paths.base);
    if (bytes && matches(bytes, this.#metadata.commit.base)) return decodeBase(bytes);
    throw await corruptStore(this.stored, paths.base, 'it does not match the last commit');
  }

  async #putLetter(event: AgentEvent, reason: string): Promise<void> {
    const crashes = countCrashes(this.#log.map(({ record }) => record));
    await this.queues.putLetter({ event, crashes, reason, deadAt: this.stored.clock.now() });
  }

  async #committed(plan: CommitPlan): Promise<void> {
    this.#metadata = plan.metadata;
    this.#extensions = plan.extensions;
    this.#log = [];
    this.#turn = undefined;
    const { files, finished } = this.recovered;
    const putReply = () => this.queues.putReply(plan.metadata.commit, finished);
    await this.#apply(() => applyCommit(this.stored, files, plan, putReply));
  }

  /**
   * Runs an action after the commit. If the action fails, the commit stays valid. The next turn is then rejected, and
   * recovery finishes the action.
   */
  async #apply(action: () => Promise<void>): Promise<void> {
    const { paths, warn } = this.stored;
    try {
      await action();
    } catch (error) {
      this.#serial.stop(error);
      const reason = error instanceof Error ? error.message : String(error);
      warn({ path: paths.folder, message: `committed, but not yet put in place: ${reason}` });
    }
  }
}

async function appendTexts(log: AppendLog, records: readonly LoggedRecord[]): Promise<void> {
  if (records.length > 0) await log.append(sealLines(records.map(({ text }) => text)));
}

function outOfOrder(message: string): GoondanError {
  return new GoondanError('E_STORE_ORDER', message);
}
