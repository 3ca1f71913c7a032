/**
 * The store of one conversation that is kept elsewhere. Every request goes to the orchestrator, which identifies the
 * conversation by the channel, and has the address of the store. Requests are sent in order; the close of the channel
 * ends all waits.
 */
import { type AgentAddress, GoondanError, type JsonObject } from '@goondan/types';
import { fromFrameError } from '../../ipc/check/frame-error.ts';
import type { StoreRequest } from '../../ipc/from-agent.ts';
import { PIECE_BYTES, sendInPieces } from '../../ipc/blob-chunks.ts';
import { PendingAnswers } from '../../ipc/pending-answers.ts';
import type { StoreEnd } from '../../ipc/to-agent.ts';
import type { Clock } from '../../ports/clock.ts';
import { newUuid } from '../../ports/ids.ts';
import type { Answers } from '../../store/answers.ts';
import type { AgentBlobs } from '../../store/blobs.ts';
import type { ConversationLog } from '../../store/conversation-log.ts';
import { loggedConversations } from '../../store/log/logged-conversations.ts';
import type { AgentStore } from '../../store/store.ts';
import type { LineWriter } from '../../workspace/lines/gathered-log.ts';
import type { TurnNode } from '../../workspace/records/frame.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import type { TurnLine } from '../../workspace/traces/trace-writer.ts';
import type { AgentChannel } from './process-host.ts';

export interface IpcStoreOptions {
  /** The epoch of the owner's claim, for a conversation that has no frame yet. */
  readonly newEpoch?: number;
  /** The node of this process. */
  readonly node?: TurnNode;
  readonly clock: Clock;
  readonly warn: (warning: StoreWarning) => void;
}

/** Opens the store of this instance, to which the channel belongs. */
export function openIpcStore(
  channel: AgentChannel,
  address: AgentAddress,
  { newEpoch, ...ports }: IpcStoreOptions,
): AgentStore {
  const requests = new PendingAnswers<StoreEnd>();
  const stopHearing = channel.onMessage((message) => {
    if (message.type === 'store.ended') requests.answer(message.callId, message.outcome);
  });
  channel.onClose(() => {
    requests.refuseAll(
      new GoondanError('E_IPC_CLOSED', 'The orchestrator has exited, so the store cannot be reached.'),
    );
  });
  let sent = 0;

  async function ask(request: StoreRequest): Promise<Exclude<StoreEnd, { readonly status: 'failed' }>> {
    sent += 1;
    const callId = `store-${sent}`;
    const end = await requests.ask(callId, () => channel.send({ type: 'store', callId, request }));
    if (end.status === 'failed') throw fromFrameError(end.error);
    return end;
  }

  const log: ConversationLog = {
    async load() {
      const end = await ask({ kind: 'load' });
      if (end.status === 'loaded') return end.log;
      throw unexpected(end);
    },
    async append(_instance, epoch, frame) {
      await ask({ kind: 'append', epoch, frame });
    },
    async putCheckpoint(_instance, epoch, checkpoint) {
      await ask({ kind: 'checkpoint', epoch, checkpoint });
    },
  };
  const answers: Answers = {
    async left() {
      const end = await ask({ kind: 'answers.left' });
      if (end.status === 'left') return end.answers;
      throw unexpected(end);
    },
    async acknowledge(_instance, eventId) {
      await ask({ kind: 'answers.acknowledge', eventId });
    },
  };
  const { conversations, close } = loggedConversations(log, answers, { ...ports, newEpochOf: () => newEpoch });
  const traces: LineWriter<TurnLine> = {
    async append(lines) {
      const made = lines.flatMap(({ turn: { turnId, traceId, startedAt }, isNeeded, ...line }) => {
        const text = line.text();
        return text === undefined ? [] : [{ turn: { turnId, traceId, startedAt }, isNeeded, text }];
      });
      if (made.length > 0) await ask({ kind: 'traces', lines: made });
    },
    close: async () => undefined,
  };
  const events: LineWriter<JsonObject> = {
    async append(lines) {
      await ask({ kind: 'events', lines });
    },
    close: async () => undefined,
  };
  const blobs: AgentBlobs = {
    async put(_instance, bytes) {
      const end = await sendInPieces(bytes, newUuid(), (piece) => ask({ kind: 'blob.put', ...piece }));
      if (end.status === 'stored') return end.digest;
      throw unexpected(end);
    },
    async use(_instance, digests) {
      await ask({ kind: 'blob.use', digests });
    },
    async named(_instance, digests) {
      await ask({ kind: 'blob.named', digests });
    },
    async get(digest) {
      const pieces: Uint8Array[] = [];
      for (let from = 0; ; from += PIECE_BYTES) {
        const end = await ask({ kind: 'blob.get', digest, from });
        if (end.status !== 'bytes') throw unexpected(end);
        if (end.data === undefined || end.size === undefined) return undefined;
        pieces.push(Buffer.from(end.data, 'base64'));
        if (from + PIECE_BYTES >= end.size) return Buffer.concat(pieces);
      }
    },
    async size(digest) {
      const end = await ask({ kind: 'blob.size', digest });
      if (end.status === 'bytes') return end.size;
      throw unexpected(end);
    },
  };
  return {
    conversations,
    answers,
    blobs,
    traceSink: { open: async () => traces },
    eventSink: { open: async () => events },
    // A closed store is not used again.
    async close() {
      await close(address);
      stopHearing();
    },
  };
}

function unexpected({ status }: StoreEnd): GoondanError {
  return new GoondanError('E_IPC_FRAME', `The orchestrator answered a request to the store with "${status}".`);
}
