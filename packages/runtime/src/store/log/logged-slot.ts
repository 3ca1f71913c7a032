/**
 * One instance of a log that is kept elsewhere, with its writer while it is open. After a failed write, or when another
 * node has owned the instance since, the next use reads the log again.
 */
import type { AgentAddress } from '@goondan/types';
import { InstanceWriter } from '../../workspace/journal/instance-writer.ts';
import type { ConversationLog } from '../conversation-log.ts';
import { LoggedInstance, type LoggedPorts } from './logged-instance.ts';

interface OpenLog {
  readonly place: LoggedInstance;
  readonly writer: InstanceWriter;
}

export class LoggedSlot {
  #open: OpenLog | undefined;
  #opening: Promise<unknown> = Promise.resolve();
  #lastEpoch = 0;

  /** `newEpoch`: the epoch of an instance that certainly has no frame; it is not read before its first frame. */
  constructor(
    private readonly log: ConversationLog,
    private readonly address: AgentAddress,
    private readonly ports: LoggedPorts,
    private newEpoch?: number,
  ) {}

  /** The writer, even if a failed write has stopped it. */
  get writer(): InstanceWriter | undefined {
    return this.#open?.writer;
  }

  /** Opens the writer. **Errors** — those of `LoggedInstance.load`. */
  openWriter(): Promise<InstanceWriter> {
    return this.#inTurn(async () => {
      const { place, writer } = this.#open ?? {};
      if (place?.isHeld() === true && writer?.failed === false) return writer;
      await this.#close();
      const loaded = await this.#load();
      const options = { nextEpoch: () => this.#nextEpoch(loaded), onCommit: () => undefined };
      this.#open = { place: loaded, writer: new InstanceWriter(loaded, options) };
      return this.#open.writer;
    });
  }

  close(): Promise<void> {
    return this.#inTurn(() => this.#close());
  }

  /**
   * Returns the epoch of a turn: that of the claim plus the last number of the log, or one more than that of the turn
   * before. So it grows, also in the next process of the same claim. It orders the turns of one process; the log itself
   * refuses the frames of another one.
   */
  #nextEpoch({ epoch, state }: LoggedInstance): number {
    this.#lastEpoch = Math.max(this.#lastEpoch + 1, epoch + state.seq);
    return this.#lastEpoch;
  }

  async #load(): Promise<LoggedInstance> {
    const { newEpoch } = this;
    // After a failure the log may have frames.
    this.newEpoch = undefined;
    if (newEpoch === undefined) return LoggedInstance.load(this.log, this.address, this.ports);
    return LoggedInstance.begin(this.log, this.address, this.ports, newEpoch);
  }

  async #close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.writer.close();
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#opening.then(action);
    this.#opening = result.catch(() => undefined);
    return result;
  }
}
