/**
 * Answers the store requests of agent processes, for a store that is elsewhere. A process never gets an address of the
 * store.
 *
 * 1. A channel reaches only the conversation that it was opened for.
 * 2. Requests about a conversation run one after the other, also those of its next process: that process reads what the
 *    one before has sent. What a process has sent is written, also when it is gone; only its questions are dropped.
 * 3. Lines for people and the bytes of files do not hold up the conversation. A process waits for its files itself,
 *    before it writes a frame that names them.
 */
import { type AgentAddress, type ErrorCode, GoondanError } from '@goondan/types';
import type { StoreStart } from '../../config/agent-start.ts';
import { PIECE_BYTES, ReceivedUploads } from '../../ipc/blob-chunks.ts';
import type { ChannelEnd } from '../../ipc/channel/channel.ts';
import { type FrameError, toFrameError } from '../../ipc/check/frame-error.ts';
import type { FromAgent, StoreRequest } from '../../ipc/from-agent.ts';
import type { StoreEnd, ToAgent } from '../../ipc/to-agent.ts';
import { defined } from '../../json/defined.ts';
import type { ClusterStore } from '../../store/cluster-store.ts';
import type { LineWriter } from '../../workspace/lines/gathered-log.ts';
import type { TurnNode } from '../../workspace/records/frame.ts';
import { addressKey } from '../address/address-key.ts';

export interface StoreServerDeps {
  readonly store: Pick<ClusterStore, 'log' | 'answers' | 'blobs' | 'traceSink' | 'eventSink'> & {
    readonly placement: Pick<ClusterStore['placement'], 'takeNewEpoch'>;
  };
  /** This node, which the first frame of each run of a turn names. */
  readonly node?: TurnNode;
  /** Returns the maximum number of bytes of a file for an agent. */
  readonly maxFileBytes: (agentName: string) => number;
  /** Tells people at this node why a request failed. The process only gets the code. */
  readonly report: (instance: AgentAddress, problem: string, error: unknown) => void;
}

/** The most requests of one process that wait. A process waits for its answers, so it never has as many. */
const MOST_WAITING = 1_000;

/** Errors whose texts are made by our own code. Other texts may contain an address of the store. */
const OWN_TEXTS: ReadonlySet<ErrorCode> = new Set([
  'E_FENCED',
  'E_FILE_SIZE',
  'E_FILE_UNKNOWN',
  'E_IPC_FULL',
  'E_IPC_SIZE',
  'E_STORE_CORRUPT',
  'E_STORE_ORDER',
]);

type StoreChannel = Pick<ChannelEnd<ToAgent, FromAgent>, 'send' | 'onMessage' | 'onClose' | 'isClosed'>;

export class StoreServer {
  /** The last request about each conversation that has one under way. */
  readonly #tails = new Map<string, Promise<void>>();

  constructor(private readonly deps: StoreServerDeps) {}

  /** Returns the place of a conversation for the start message of its next process. */
  startOf(instance: AgentAddress): Extract<StoreStart, { readonly isElsewhere: true }> {
    const { store, node } = this.deps;
    const newEpoch = store.placement.takeNewEpoch(instance);
    return { isElsewhere: true, ...(newEpoch !== undefined && { newEpoch }), ...(node && { node }) };
  }

  /** Serves the process behind a channel until the channel closes. Call it before the process gets its start message. */
  serve(channel: StoreChannel, instance: AgentAddress): void {
    const { log, answers, blobs, traceSink, eventSink } = this.deps.store;
    const uploads = new ReceivedUploads(() => this.deps.maxFileBytes(instance.agentName));
    const files = new ReadPieces((digest) => blobs.get(digest));
    const traces = new OpenedSink(() => traceSink.open(instance));
    const events = new OpenedSink(() => eventSink.open(instance));
    let waiting = 0;

    const perform = async (request: StoreRequest): Promise<StoreEnd> => {
      switch (request.kind) {
        case 'load':
          return { status: 'loaded', log: await log.load(instance) };
        case 'append':
          await log.append(instance, request.epoch, request.frame);
          return { status: 'done' };
        case 'checkpoint':
          await log.putCheckpoint(instance, request.epoch, request.checkpoint);
          return { status: 'done' };
        case 'answers.left':
          return { status: 'left', answers: await answers.left(instance) };
        case 'answers.acknowledge':
          await answers.acknowledge(instance, request.eventId);
          return { status: 'done' };
        case 'traces':
          await traces.append(request.lines.map(({ text, ...line }) => ({ ...line, text: () => text })));
          return { status: 'done' };
        case 'events':
          await events.append(request.lines);
          return { status: 'done' };
        case 'blob.put': {
          const bytes = uploads.add(request);
          return bytes === undefined
            ? { status: 'done' }
            : { status: 'stored', digest: await blobs.put(instance, bytes) };
        }
        case 'blob.get':
          return { status: 'bytes', ...(await files.read(request.digest, request.from)) };
        case 'blob.size':
          return { status: 'bytes', ...defined({ size: await blobs.size(request.digest) }) };
        case 'blob.use':
          await blobs.use(instance, request.digests);
          return { status: 'done' };
        case 'blob.named':
          await blobs.named(instance, request.digests);
          return { status: 'done' };
      }
    };
    const answer = async ({ callId, request }: Extract<FromAgent, { readonly type: 'store' }>) => {
      if (channel.isClosed && isQuestion(request)) return;
      const outcome = await perform(request).catch((error: unknown) => this.#failure(instance, error));
      await channel.send({ type: 'store.ended', callId, outcome }).catch(async (error: unknown) => {
        if (channel.isClosed) return;
        // An answer that is too long for the channel would be waited for without end.
        const failed = this.#failure(instance, error);
        await channel.send({ type: 'store.ended', callId, outcome: failed }).catch(() => undefined);
      });
    };
    channel.onMessage((frame) => {
      if (frame.type !== 'store') return;
      if (waiting >= MOST_WAITING) return void this.#refuse(channel, frame.callId);
      waiting += 1;
      const run = () => answer(frame).finally(() => void (waiting -= 1));
      if (isAside(frame.request)) void run();
      else this.#inTurn(instance, run);
    });
    channel.onClose(() => void Promise.allSettled([traces.close(), events.close()]));
  }

  #inTurn(instance: AgentAddress, action: () => Promise<void>): void {
    const key = addressKey(instance);
    const tail = (this.#tails.get(key) ?? Promise.resolve()).then(action);
    this.#tails.set(key, tail);
    void tail.finally(() => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    });
  }

  #failure(instance: AgentAddress, thrown: unknown): StoreEnd {
    const error = toFrameError(thrown, 'E_STORE_WRITE');
    if (OWN_TEXTS.has(error.code)) return { status: 'failed', error };
    this.deps.report(instance, 'A request to the store failed', thrown);
    return { status: 'failed', error: withoutText(error) };
  }

  async #refuse(channel: StoreChannel, callId: string): Promise<void> {
    const full = new GoondanError('E_IPC_FULL', `${MOST_WAITING} requests to the store wait.`, { retryable: true });
    const outcome = { status: 'failed', error: toFrameError(full, 'E_IPC_FULL') } as const;
    await channel.send({ type: 'store.ended', callId, outcome }).catch(() => undefined);
  }
}

function isAside({ kind }: StoreRequest): boolean {
  return kind === 'traces' || kind === 'events' || kind.startsWith('blob.');
}

/** Returns true for a request that changes nothing. */
function isQuestion({ kind }: StoreRequest): boolean {
  return kind === 'load' || kind === 'answers.left' || kind === 'blob.get' || kind === 'blob.size';
}

/** Reads files piece by piece. The file that is being read stays in memory until its last piece. */
class ReadPieces {
  #reading: { readonly digest: string; readonly bytes: Uint8Array } | undefined;

  constructor(private readonly get: (digest: string) => Promise<Uint8Array | undefined>) {}

  async read(digest: string, from: number): Promise<{ readonly data?: string; readonly size?: number }> {
    const bytes = this.#reading?.digest === digest ? this.#reading.bytes : await this.get(digest);
    if (bytes === undefined) return {};
    const end = from + PIECE_BYTES;
    this.#reading = end < bytes.length ? { digest, bytes } : undefined;
    return { data: Buffer.from(bytes.subarray(from, end)).toString('base64'), size: bytes.length };
  }
}

function withoutText({ code, retryable, retryAfterMs }: FrameError): FrameError {
  return {
    code,
    message: 'The store failed. The log of the swarm has the reason.',
    ...(retryable !== undefined && { retryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** A sink, opened with its first lines. Lines are written in order. */
class OpenedSink<Line> {
  #writer: Promise<LineWriter<Line>> | undefined;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(private readonly open: () => Promise<LineWriter<Line>>) {}

  append(lines: readonly Line[]): Promise<void> {
    const written = this.#writing.then(async () => {
      this.#writer ??= this.open();
      // After a failure, the next lines open the sink again.
      const writer = await this.#writer.catch((error: unknown) => {
        this.#writer = undefined;
        throw error;
      });
      await writer.append(lines);
    });
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async close(): Promise<void> {
    await this.#writing;
    const writer = await this.#writer;
    await writer?.close();
  }
}
