/**
 * A `ConversationLog` in memory, with fencing: the smallest log that keeps the promises of `store/conversation-log.ts`. A
 * `MemoryLogs` is the place where several nodes meet, as a database would be.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { ConversationLog, LogFrame, StoredLog } from '../../store/conversation-log.ts';
import { answerOf, decodeReply } from '../../workspace/records/reply.ts';
import { MemorySwarm } from './memory-seams.ts';

interface KeptLog {
  owner: string | undefined;
  epoch: number;
  checkpoint: string | undefined;
  base: string[];
  frames: LogFrame[];
  readonly archive: string[];
}

export class MemoryLogs {
  /** The number of statements so far: reads and writes that a database would get. */
  statements = 0;
  /** Fails the next write once: the write then changes nothing, or everything if `isAfter`. */
  failure: { readonly of: 'append' | 'putCheckpoint'; readonly error: unknown; readonly isAfter?: boolean } | undefined;
  readonly #logs = new Map<string, KeptLog>();
  /** The frames that are not durable, by node. */
  readonly #buffers = new Map<string, { readonly instance: AgentAddress; readonly frame: LogFrame }[]>();

  constructor(readonly swarm = new MemorySwarm()) {}

  /** Makes a node the owner of an instance. Returns the epoch. */
  claim(instance: AgentAddress, node: string): number {
    const log = this.#of(instance);
    if (log.owner !== node) log.epoch += 1;
    log.owner = node;
    return log.epoch;
  }

  /** Drops everything that only the memory of the node has. */
  lose(node: string): void {
    this.#buffers.delete(node);
  }

  /** Makes everything durable that a node has in memory, as a node that stops does. */
  flush(node: string): void {
    const waiting = this.#buffers.get(node) ?? [];
    this.#buffers.delete(node);
    for (const { instance, frame } of waiting) this.#write(this.#of(instance), instance, frame);
  }

  /** Returns the lines of a conversation, those of the archive first. */
  linesOf(instance: AgentAddress): readonly string[] {
    const { archive, frames } = this.#of(instance);
    return [...archive, ...frames.map(({ line }) => line)];
  }

  /** Returns the log as a node sees it. */
  at(node: string): ConversationLog {
    return {
      load: async (instance) =>
        this.#statement('load', () => {
          this.flush(node);
          return this.#load(this.#owned(instance, node));
        }),
      append: async (instance, epoch, frame) => {
        const log = this.#owned(instance, node, epoch);
        if (frame.isDurable || frame.commit) {
          return this.#statement('append', () => {
            this.flush(node);
            this.#write(log, instance, frame);
          });
        }
        this.#buffers.set(node, [...(this.#buffers.get(node) ?? []), { instance, frame }]);
      },
      putCheckpoint: async (instance, epoch, { seq, text, base }) =>
        this.#statement('putCheckpoint', () => {
          const log = this.#owned(instance, node, epoch);
          this.flush(node);
          log.checkpoint = text;
          log.base = base.type === 'rewrite' ? [base.lines] : [...log.base, base.lines];
          log.archive.push(...log.frames.filter(({ last }) => last <= seq).map(({ line }) => line));
          log.frames = log.frames.filter(({ last }) => last > seq);
        }),
    };
  }

  #statement<T>(kind: keyof ConversationLog, action: () => T): T {
    this.statements += 1;
    const failure = this.failure?.of === kind ? this.failure : undefined;
    if (failure) this.failure = undefined;
    if (failure && failure.isAfter !== true) throw failure.error;
    const done = action();
    if (failure) throw failure.error;
    return done;
  }

  #of(instance: AgentAddress): KeptLog {
    const key = JSON.stringify([instance.agentName, instance.instanceKey]);
    const made = { owner: undefined, epoch: 0, checkpoint: undefined, base: [], frames: [], archive: [] };
    const log = this.#logs.get(key) ?? made;
    this.#logs.set(key, log);
    return log;
  }

  #owned(instance: AgentAddress, node: string, epoch?: number): KeptLog {
    const log = this.#of(instance);
    if (log.owner === node && (epoch === undefined || epoch === log.epoch)) return log;
    const message = `Node ${node} does not own instance ${JSON.stringify(instance.instanceKey)} with epoch ${epoch}`;
    throw new GoondanError('E_FENCED', message);
  }

  #load({ epoch, checkpoint, base, frames }: KeptLog): StoredLog {
    const lines = frames.map(({ line }) => line);
    return { epoch, base, frames: lines, ...(checkpoint !== undefined && { checkpoint }) };
  }

  /** A frame that is there already was written by an earlier attempt. */
  #write(log: KeptLog, instance: AgentAddress, frame: LogFrame): void {
    const there = log.frames.find(({ seq }) => seq === frame.seq);
    if (there?.line === frame.line) return;
    const before = log.frames.at(-1);
    if (there || (before && before.last + 1 !== frame.seq))
      throw new GoondanError('E_STORE_WRITE', `Frame ${frame.seq} does not follow frame ${before?.last}`);
    log.frames.push(frame);
    if (frame.commit) this.#commit(instance, frame.commit);
  }

  #commit(instance: AgentAddress, { handled, taken = [], answer }: NonNullable<LogFrame['commit']>): void {
    const input = this.swarm.inputOf(instance);
    const rest = input.pending.filter(({ seq }) => seq > handled && !taken.includes(seq));
    input.pending.splice(0, input.pending.length, ...rest);
    const reply = answer && decodeReply(JSON.parse(answer.reply));
    if (answer && reply) input.answers.push(answerOf(answer.eventId, reply));
  }
}
