/**
 * Readers for people, commands and Studio. They take no lock and change nothing, so they work while the swarm runs and
 * after it has stopped.
 */
import type { AgentAddress } from '@goondan/types';
import type { ConversationSnapshot } from '../agent/conversation/conversation-store.ts';
import type { LogLine } from '../ports/log-line.ts';
import type { TurnSummary } from '../trace/turn-trace.ts';
import type { InstanceSpending } from '../usage/spending.ts';
import type { ArchivedTurn } from '../workspace/archive/read-archive.ts';
import type { HistorySource } from '../workspace/history/read-history.ts';
import type { IntactConversation } from '../workspace/journal/read-committed.ts';
import type { InstanceSummary } from '../workspace/journal/read-summary.ts';
import type { LogQuestion } from '../workspace/logs/read-swarm-log.ts';
import type { RecordedAgent } from '../workspace/swarms/agent-descriptions.ts';
import type { KnownSwarm } from '../workspace/swarms/list-known-swarms.ts';
import type { ListedWorkspace } from '../workspace/swarms/list-workspaces.ts';
import type { SwarmRecord } from '../workspace/swarms/swarm-record.ts';
import type { KeptRecording } from '../workspace/traces/read-recording.ts';
import type { TurnRequests } from '../workspace/traces/read-requests.ts';
import type { ListTurnsOptions, ReadTrace } from '../workspace/traces/read-turn-trace.ts';

/** The committed turns of a conversation. `readHistory`, `readConversationAt` and `blame` read from `history`. */
export interface HistoryReader extends Required<HistorySource> {
  /** Returns the newest committed conversation. */
  read(instance: AgentAddress): Promise<ConversationSnapshot>;
  /** Like `read`, but skips damaged parts, lists them in `problems` and returns the rest. */
  readIntact(instance: AgentAddress): Promise<IntactConversation>;
  /** Yields the kept committed turns, oldest first. **Errors** — `E_STORE_CORRUPT`, also when turns are missing. */
  archive(instance: AgentAddress): AsyncIterable<ArchivedTurn>;
}

/** The recorded turns of a swarm. Traces are bounded: the oldest are deleted. */
export interface TraceReader {
  /** Lists the latest turns, newest first. **Errors** — `E_STORE_READ`. */
  list(options?: ListTurnsOptions): Promise<readonly TurnSummary[]>;
  /**
   * Reads a turn, or all turns of a trace. `id` is the id of a turn, a trace, a turn's span or its event, or a unique
   * prefix of such an id; without an id, the latest turn that was not requested by another agent.
   *
   * **Errors** — `E_TRACE_UNKNOWN`, `E_TRACE_AMBIGUOUS`, `E_STORE_READ`.
   */
  read(id?: string): Promise<ReadTrace>;
  /**
   * Reads everything that a replay of a turn needs. **Errors** — those of `read`, `E_REPLAY_UNFINISHED`,
   * `E_REPLAY_INCOMPLETE`.
   */
  readRecording(id?: string): Promise<KeptRecording>;
  /**
   * Rebuilds the model requests of a turn from its records and the conversation. `readPrompts` adds the bodies. **Errors** —
   * those of `read`.
   */
  readRequests(id?: string): Promise<TurnRequests>;
}

/** The log lines of a swarm, of all its processes. */
export interface LogReader {
  /** Returns the last lines that match, oldest first. **Errors** — `E_STORE_READ`. */
  read(question: LogQuestion): Promise<readonly LogLine[]>;
}

/** The instances of one swarm, and the facts about the swarm that outlive its run. */
export interface Directory {
  /** Returns true if the swarm ever ran. Before that there is nothing to read. */
  exists(): Promise<boolean>;
  /** Lists the instances that have state or input, in no particular order. */
  instances(): Promise<readonly AgentAddress[]>;
  /** Returns counts and dates to show in lists. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`, … */
  summary(instance: AgentAddress): Promise<InstanceSummary>;
  /** Returns true if anything of the instance exists, damaged or not. */
  has(instance: AgentAddress): Promise<boolean>;
  /**
   * Returns true if the instance certainly has no commit, so that its process need not read it. A store that would have
   * to ask for it returns false.
   */
  isNew(instance: AgentAddress): boolean;
  /** Returns the instance that was committed last; `undefined` when none of them has a commit. */
  lastUsed(instances: readonly AgentAddress[]): Promise<AgentAddress | undefined>;
  /**
   * Returns a number that changes when an instance is created or deleted; `undefined` when the swarm never had one. It
   * is cheap, because Studio asks often.
   */
  changedAt(): Promise<number | undefined>;
  /** Returns the swarm that ran last, with the folder of its bundle; `undefined` when none is recorded. */
  swarm(): Promise<SwarmRecord | undefined>;
  /** Returns the description of an agent from its last start. */
  describe(agentName: string): Promise<RecordedAgent | undefined>;
}

/** The model calls that a swarm has paid for, also those of deleted conversations, for 400 days. */
export interface UsageReader {
  /**
   * Returns the calls of each day, instance, model and extension, each call once. The recorded calls of a turn that runs or
   * was interrupted count, too. `since`: the first day, such as `2026-11-17`; all kept days when absent.
   */
  read(since?: string): Promise<ReadUsage>;
}

export interface ReadUsage {
  readonly spendings: readonly InstanceSpending[];
  /** A text for each conversation whose calls cannot be read, because its files are damaged. */
  readonly problems: readonly string[];
}

/** The swarms that ever ran with their state in one place. */
export interface SwarmList {
  /** Lists the workspaces of these swarms, in no particular order. */
  list(): Promise<readonly ListedWorkspace[]>;
  /** Lists only the ids of the workspaces. */
  ids(): Promise<readonly string[]>;
  /** Lists the swarms that ran from this bundle folder, latest first. */
  ofFolder(folder: string): Promise<readonly KnownSwarm[]>;
}
