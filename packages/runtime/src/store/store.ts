/**
 * Everything that a swarm keeps, as one object of seams. Files implement it in `store/files`; `docs/writing-a-store.md`
 * is for other stores, and `testing/conformance` checks them.
 *
 * Three sides open a store, and each gets only the seams that it uses.
 */
import type { AgentAddress } from '@goondan/types';
import type { ConversationStore } from '../agent/conversation/conversation-store.ts';
import type { Answers } from './answers.ts';
import type { QuestionStore } from './question-store.ts';
import type { AgentBlobs, BlobReader, Blobs } from './blobs.ts';
import type { Counters } from './counters.ts';
import type { Inbox } from './inbox.ts';
import type { DeadLetters, InstanceAdmin } from './instance-admin.ts';
import type { Placement } from './placement.ts';
import type { Directory, HistoryReader, LogReader, TraceReader, UsageReader } from './readers.ts';
import type { EventSink, TraceSink } from './sinks.ts';

export interface Store {
  readonly conversations: ConversationStore;
  readonly inbox: Inbox;
  readonly placement: Placement;
  readonly answers: Answers;
  readonly questions: QuestionStore;
  readonly blobs: Blobs;
  readonly counters: Counters;
  readonly deadLetters: DeadLetters;
  readonly admin: InstanceAdmin;
  readonly traceSink: TraceSink;
  readonly eventSink: EventSink;
  readonly history: HistoryReader;
  readonly traces: TraceReader;
  readonly logs: LogReader;
  readonly directory: Directory;
  readonly usage: UsageReader;
  /** Closes everything that this side opened. */
  close(): Promise<void>;
}

/** The side of a node: the orchestrator, which accepts input, places instances and administers them. */
export type NodeStore = Pick<
  Store,
  | 'inbox'
  | 'placement'
  | 'questions'
  | 'blobs'
  | 'counters'
  | 'deadLetters'
  | 'admin'
  | 'history'
  | 'directory'
  | 'close'
>;

/** The side of an agent process, which writes one conversation, or many in a shared process. */
export interface AgentStore extends Pick<Store, 'conversations' | 'answers' | 'traceSink' | 'eventSink'> {
  readonly blobs: AgentBlobs;
  /** Closes one conversation, so that another process can write it; without an instance, everything. */
  close(instance?: AgentAddress): Promise<void>;
}

/** The side of commands and of Studio, which only read. They also read a swarm that is stopped. */
export interface StoreReader extends Pick<Store, 'history' | 'traces' | 'logs' | 'directory' | 'usage' | 'close'> {
  readonly inbox: Pick<Inbox, 'pendingEntries'>;
  readonly deadLetters: Pick<DeadLetters, 'list'>;
  readonly blobs: BlobReader;
}
