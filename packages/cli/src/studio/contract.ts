/**
 * What Studio's page and its server say to each other: JSON over HTTP, below `/api`. The page imports these types and
 * nothing else of this package.
 *
 * | request                                    | answer             |
 * | ------------------------------------------ | ------------------ |
 * | GET  workspaces                            | `WorkspaceList`    |
 * | GET  workspaces/ID                         | `WorkspaceView`    |
 * | GET  workspaces/ID/conversation            | `ConversationView` |
 * | GET  workspaces/ID/timeline                | `TimelineView`     |
 * | GET  workspaces/ID/history                 | `HistoryView`      |
 * | GET  workspaces/ID/turns                   | `TurnList`         |
 * | GET  workspaces/ID/trace?id=TURN           | `TraceView`        |
 * | GET  workspaces/ID/events                  | a WebSocket, each message a `StudioNotice` |
 * | POST workspaces/ID/send `SendBody`         | `Acceptance`       |
 * | POST workspaces/ID/cancel `CancelBody`     | `Done`             |
 * | POST workspaces/ID/approval `ApprovalBody` | `Done`             |
 * | POST workspaces/ID/dead-letter `DeadLetterBody` | `Done`        |
 *
 * `conversation`, `timeline` and `history` are about one instance: `?agent=…&instanceKey=…`. What goes wrong is a status of 4xx
 * or 5xx and a `Refusal`.
 */
import type { ApprovalSummary, InstanceAddress, InstanceStatus, SwarmNotice } from '@goondan/runtime';
import type { ConnectionStatus, DeadLetterSummary } from '@goondan/runtime/control';
import type { BlamedMessage, HistoryPage, ReadTrace, TurnSummary } from '@goondan/runtime/history';
import type { LayerSummary } from '@goondan/runtime/internal';
import type { ExtensionStatusChanged, TurnError } from '@goondan/types';
import type { ToolSource, UnknownTools } from '../explain/explain-agent.ts';

export type { Acceptance, InstanceAddress } from '@goondan/runtime';
export type { ChainRecord, LayerRecord, TurnTrace } from '@goondan/runtime/history';
export type { CodePlace, ExtensionStatusChanged, MiddlewareKind } from '@goondan/types';
export type { ToolSource, UnknownTools } from '../explain/explain-agent.ts';

/** How a value arrives on the other side: dates are texts there. */
export type Sent<Value> = Value extends Date
  ? string
  : Value extends (...args: never[]) => unknown
    ? never
    : Value extends readonly (infer Item)[]
      ? readonly Sent<Item>[]
      : Value extends object
        ? { readonly [Name in keyof Value]: Sent<Value[Name]> }
        : Value;

export interface Refusal {
  readonly error: { readonly code: string; readonly message: string; readonly suggestion?: string };
}

export interface WorkspaceList {
  /** The running ones first, then by when they were last used. */
  readonly workspaces: readonly WorkspaceSummary[];
  /** The one `gdn studio` was opened for. It need not be in the list: nothing may have happened in it yet. */
  readonly opened?: { readonly workspaceId: string; readonly swarm: string };
  /** Of this `gdn`. */
  readonly version: string;
}

export interface WorkspaceSummary {
  readonly workspaceId: string;
  /** The one that runs, or last ran there. Absent in workspaces that were last used by a version that did not keep it. */
  readonly swarm?: string;
  readonly isRunning: boolean;
  readonly instances: number;
  /** When the newest of its conversations changed. */
  readonly updatedAt?: string;
}

export interface WorkspaceView extends WorkspaceSummary {
  /** Of the swarm that runs. */
  readonly pid?: number;
  readonly startedAt?: string;
  readonly entryAgent?: string;
  readonly agents: readonly AgentView[];
  /** The latest ones first. */
  readonly conversations: readonly InstanceView[];
  readonly connections: readonly ConnectionStatus[];
  readonly approvals: readonly ApprovalSummary[];
  readonly deadLetters: readonly DeadLetterSummary[];
  /** What starts the swarm, for a person to type; absent when its bundle is not known. */
  readonly startCommand?: string;
}

export interface AgentView {
  readonly name: string;
  /** `Model/name`, when the bundle is known. */
  readonly model?: string;
  /** The agents it may ask, when the bundle is known. */
  readonly mayAsk?: readonly string[];
  readonly tools: readonly string[];
  /** The same tools with where each comes from, and when an extension was last known to offer it. */
  readonly toolSources: readonly ToolSource[];
  /** Extensions whose tools are not known, and how to find out. */
  readonly unknownTools: readonly UnknownTools[];
  readonly extensions: readonly string[];
  /** Outermost first, kind by kind; empty for one that never started. */
  readonly layers: readonly LayerSummary[];
}

export interface InstanceView extends InstanceAddress {
  readonly status: InstanceStatus['status'];
  readonly messages: number;
  /** `null` while no turn was opened. */
  readonly updatedAt: string | null;
  readonly queued: number;
  readonly crashes: number;
  readonly problem?: string;
  /** How things are that its extensions need, MCP servers for example, while it has a process. */
  readonly extensions?: readonly ExtensionStatusChanged[];
}

/** `?at=SEQ`: as it was after that event. `?last=N`: the newest N messages of it; 200 when absent, 1000 at most. */
export interface ConversationView {
  /** The event it is shown after. */
  readonly seq: number;
  /** The first and the last event that are kept; 0 and 0 when there is none. */
  readonly first: number;
  readonly last: number;
  /** How many messages before those are not sent. */
  readonly earlier: number;
  readonly messages: readonly Sent<BlamedMessage>[];
}

/** The whole life of a conversation at a glance. The newest 20 000 events. */
export interface TimelineView {
  readonly first: number;
  readonly last: number;
  /** The number of the event that the first character of `authors` stands for. */
  readonly from: number;
  /** One character for each event: `i` input, `m` model, `t` tool, `e` extension, `r` runtime. */
  readonly authors: string;
  /** Oldest first. */
  readonly turns: readonly TimelineTurn[];
}

export interface TimelineTurn {
  readonly turnId: string;
  /** Its first and last event; the same as the event before it twice when it has none. */
  readonly from: number;
  readonly to: number;
  readonly committedAt: string;
  /** `completed`, `cancelled`, `failed`, `reset`, `fork`. */
  readonly result: string;
  /** Why it failed or was cancelled, and what to do. */
  readonly error?: TurnError;
}

/** `?before=SEQ&limit=N`: 100 when absent, 1000 at most. */
export type HistoryView = Sent<HistoryPage>;

/** `?agent=…&instanceKey=…&last=N`; all of the workspace when they are absent. Newest first. */
export interface TurnList {
  readonly turns: readonly TurnSummary[];
}

/** `?id=`: a turn's, a trace's, or an event's, or its beginning. */
export type TraceView = ReadTrace;

/**
 * What happens in the swarm, as it is told to whoever watches, and first what its turns that run have told so far. `swarm`:
 * it came up, went away, or is as it is when the stream begins. `conversations`: some came or went while no swarm runs, which
 * is all that can be said then. Each is a message of its own. A stream that cannot be is closed with a reason for people.
 */
export type StudioNotice =
  Sent<SwarmNotice> | { readonly type: 'swarm'; readonly isRunning: boolean } | { readonly type: 'conversations' };

export interface SendBody extends InstanceAddress {
  readonly input: string;
}

export interface CancelBody extends InstanceAddress {
  /** The turn that runs when absent. */
  readonly turnId?: string;
}

export interface ApprovalBody {
  readonly id: string;
  readonly decision: 'approve' | 'deny';
  /** For the model to read, when it is denied. */
  readonly note?: string;
}

export interface DeadLetterBody extends InstanceAddress {
  readonly eventId: string;
  readonly action: 'retry' | 'drop';
}

/** False: there was nothing to do it to (any more). */
export interface Done {
  readonly done: boolean;
}
