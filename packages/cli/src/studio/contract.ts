/**
 * The protocol between Studio's page and its server: JSON over HTTP, below `/api`. The page imports these types and
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
 * `conversation`, `timeline` and `history` are about one instance: `?agent=…&instanceKey=…`. Errors have a
 * status of 4xx or 5xx and a `Refusal`.
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

/** The type of a value on the other side: dates are texts there. */
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
  /** Running ones first, then by last use. */
  readonly workspaces: readonly WorkspaceSummary[];
  /**
   * The workspace for which `gdn studio` was started. It may be missing in the list, if nothing has happened in it yet.
   */
  readonly opened?: { readonly workspaceId: string; readonly swarm: string };
  /** The version of this `gdn`. */
  readonly version: string;
}

export interface WorkspaceSummary {
  readonly workspaceId: string;
  /** The swarm that runs or last ran there. Absent in workspaces last used by a version that did not keep it. */
  readonly swarm?: string;
  readonly isRunning: boolean;
  readonly instances: number;
  /** The time of the last change in its conversations. */
  readonly updatedAt?: string;
}

export interface WorkspaceView extends WorkspaceSummary {
  /** Present while the swarm runs, like `startedAt`. */
  readonly pid?: number;
  readonly startedAt?: string;
  readonly entryAgent?: string;
  readonly agents: readonly AgentView[];
  /** Newest first. */
  readonly conversations: readonly InstanceView[];
  readonly connections: readonly ConnectionStatus[];
  readonly approvals: readonly ApprovalSummary[];
  readonly deadLetters: readonly DeadLetterSummary[];
  /** The command that starts the swarm; absent when its bundle is unknown. */
  readonly startCommand?: string;
}

export interface AgentView {
  readonly name: string;
  /** `Model/name`, if the bundle is known. */
  readonly model?: string;
  /** The agents it may call, if the bundle is known. */
  readonly mayAsk?: readonly string[];
  readonly tools: readonly string[];
  /** The same tools with their sources, and the last time an extension was known to offer each. */
  readonly toolSources: readonly ToolSource[];
  /** Extensions with unknown tools, and how to find them out. */
  readonly unknownTools: readonly UnknownTools[];
  /** `Tool/name` of each tool whose exports are in code and were seen by no start; absent when there is none. */
  readonly schemaInCode?: readonly string[];
  readonly extensions: readonly string[];
  /** Outermost first, kind by kind; empty for an agent that never started. */
  readonly layers: readonly LayerSummary[];
}

export interface InstanceView extends InstanceAddress {
  readonly status: InstanceStatus['status'];
  readonly messages: number;
  /** `null` before its first turn. */
  readonly updatedAt: string | null;
  readonly queued: number;
  readonly crashes: number;
  readonly problem?: string;
  /** The status of things that its extensions need, such as MCP servers, while it has a process. */
  readonly extensions?: readonly ExtensionStatusChanged[];
}

/** `?at=SEQ`: the conversation after that event. `?last=N`: its newest N messages; 200 when absent, 1000 at most. */
export interface ConversationView {
  /** The event after which it is shown. */
  readonly seq: number;
  /** The first and the last kept event; 0 and 0 when there is none. */
  readonly first: number;
  readonly last: number;
  /** The number of earlier messages that are not sent. */
  readonly earlier: number;
  readonly messages: readonly Sent<BlamedMessage>[];
}

/** A whole conversation at a glance: its newest 20 000 events. */
export interface TimelineView {
  readonly first: number;
  readonly last: number;
  /** The number of the event of the first character in `authors`. */
  readonly from: number;
  /** One character for each event: `i` input, `m` model, `t` tool, `e` extension, `r` runtime. */
  readonly authors: string;
  /** Oldest first. */
  readonly turns: readonly TimelineTurn[];
}

export interface TimelineTurn {
  readonly turnId: string;
  /** The turn's first and last event; both are the event before the turn when it has none. */
  readonly from: number;
  readonly to: number;
  readonly committedAt: string;
  /** `completed`, `cancelled`, `failed`, `reset`, `fork`. */
  readonly result: string;
  /** Why it failed or was cancelled, and the suggestion. */
  readonly error?: TurnError;
}

/** `?before=SEQ&limit=N`: 100 when absent, 1000 at most. */
export type HistoryView = Sent<HistoryPage>;

/** `?agent=…&instanceKey=…&last=N`; the whole workspace when they are absent. Newest first. */
export interface TurnList {
  readonly turns: readonly TurnSummary[];
}

/** `?id=` takes the id of a turn, a trace or an event, or its beginning. */
export type TraceView = ReadTrace;

/**
 * The notices of a swarm as its watchers get them, beginning with the backlog of running turns. `swarm`: it started,
 * stopped, or its state at the beginning of the stream. `conversations`: some were added or deleted while no swarm
 * runs; more is not known then. Each notice is one message. A stream that is refused is closed with a reason for
 * people.
 */
export type StudioNotice =
  Sent<SwarmNotice> | { readonly type: 'swarm'; readonly isRunning: boolean } | { readonly type: 'conversations' };

/** `done` is false when there was nothing to act on any more. */
export interface Done {
  readonly done: boolean;
}
