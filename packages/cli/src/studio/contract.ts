/**
 * The protocol between Studio's page and its server: JSON over HTTP, below `/api`. The page imports these types,
 * the pure functions below them, and nothing else of this package.
 *
 * | request                                    | answer             |
 * | ------------------------------------------ | ------------------ |
 * | GET  workspaces                            | `WorkspaceList`    |
 * | GET  workspaces/ID                         | `WorkspaceView`    |
 * | GET  workspaces/ID/conversation            | `ConversationView` |
 * | GET  workspaces/ID/timeline                | `TimelineView`     |
 * | GET  workspaces/ID/history                 | `HistoryView`      |
 * | GET  workspaces/ID/turns                   | `TurnList`         |
 * | GET  workspaces/ID/usage                   | `UsageView`        |
 * | GET  workspaces/ID/trace?id=TURN           | `TraceView`        |
 * | GET  workspaces/ID/prompt?id=TURN&effect=KEY | `PromptView`     |
 * | GET  workspaces/ID/changeset?id=CHANGESET  | `ChangesetWithDiff` |
 * | GET  workspaces/ID/file?digest=SHA256      | `FileView`         |
 * | GET  workspaces/ID/events                  | a WebSocket, each message a `StudioNotice` |
 * | POST workspaces/ID/send `SendBody`         | `Acceptance`       |
 * | POST workspaces/ID/cancel `CancelBody`     | `Done`             |
 * | POST workspaces/ID/answer `AnswerBody`     | `Done`             |
 * | POST workspaces/ID/check `AnswerBody`      | `CheckedAnswer`    |
 * | POST workspaces/ID/revoke `RevokeBody`     | `Done`             |
 * | POST workspaces/ID/dead-letter `DeadLetterBody` | `Done`        |
 *
 * `conversation`, `timeline` and `history` are about one instance: `?agent=…&instanceKey=…`. Errors have a
 * status of 4xx or 5xx and a `Refusal`.
 */
import type { InstanceAddress, InstanceStatus, QuestionReply, QuestionSummary, SwarmNotice } from '@goondan/runtime';
import type {
  ChangeReport,
  ConnectionStatus,
  DeadLetterSummary,
  FormField,
  GrantSummary,
  KeptStatus,
} from '@goondan/runtime/control';
import type { BlamedMessage, HistoryPage, ReadTrace, TurnSummary, TurnTrace } from '@goondan/runtime/history';
import type { LayerSummary } from '@goondan/runtime/internal';
import type { ExtensionStatusChanged, TurnError } from '@goondan/types';
import type { ChangesetView } from '../changes/view-changeset.ts';
import type { ToolSource, UnknownTools } from '../explain/explain-agent.ts';
import type { UsageReport } from '../usage/sum-spendings.ts';

export type { Acceptance, InstanceAddress } from '@goondan/runtime';
export type { ChangeReport, FormField, GrantSummary, KeptStatus } from '@goondan/runtime/control';
export type { ChainRecord, LayerRecord, TurnTrace } from '@goondan/runtime/history';
export type { AlwaysScope, CodePlace, ExtensionStatusChanged, MiddlewareKind } from '@goondan/types';
export type { ChangesetView, ChangesetWithDiff } from '../changes/view-changeset.ts';
export type { ToolSource, UnknownTools } from '../explain/explain-agent.ts';
// The choices and the words of the terminal, and a reader of traces. They load nothing else.
export { hasPassedOn } from '@goondan/runtime/internal';
export { alwaysScopesOf, endingOf, hostOf } from '@goondan/types';
export { describeAlways, describeWhere, describeWish, nameAnswer, nameSubject } from '../question/wording.ts';

/** The type of a value after it was sent as JSON: dates become texts. */
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
  /** Workspaces with a running swarm first, then by last use. */
  readonly workspaces: readonly WorkspaceSummary[];
  /** The workspace for which `gdn studio` was started. If it has not been used yet, it is not in the list. */
  readonly opened?: { readonly workspaceId: string; readonly swarm: string };
  /** The version of this `gdn`. */
  readonly version: string;
}

export interface WorkspaceSummary {
  readonly workspaceId: string;
  /** The swarm that runs or last ran in the workspace. Absent when its record is missing or damaged. */
  readonly swarm?: string;
  readonly isRunning: boolean;
  readonly instances: number;
  /** The time of the last change to one of the workspace's conversations. */
  readonly updatedAt?: string;
}

export interface WorkspaceView extends WorkspaceSummary {
  /** The process id; present while the swarm runs, like `startedAt`. */
  readonly pid?: number;
  readonly startedAt?: string;
  readonly entryAgent?: string;
  readonly agents: readonly AgentView[];
  /** The conversations, newest first. */
  readonly conversations: readonly InstanceView[];
  readonly connections: readonly ConnectionStatus[];
  /** The open questions, oldest first. */
  readonly questions: readonly QuestionView[];
  /** The calls that people always allow, oldest first. */
  readonly grants: readonly GrantSummary[];
  readonly deadLetters: readonly DeadLetterSummary[];
  /** The latest changes of the running swarm and the refused ones, newest first; absent when there are none. */
  readonly changes?: readonly ChangeReport[];
  /** The changesets of the swarm's agents, newest first, at most 50; absent when there are none. */
  readonly changesets?: readonly ChangesetView[];
  /** The kept connections of the running swarm, also of agents that have no process. */
  readonly kept?: readonly KeptStatus[];
  /** The command that starts the swarm; absent when its bundle is unknown. */
  readonly startCommand?: string;
}

/** An open question. */
export interface QuestionView extends QuestionSummary {
  /** The fields of a form; absent for other questions, and for a form that cannot be read. */
  readonly fields?: readonly FormField[];
}

/** The answer of a person. The server adds the name of the person, who is the user of Studio. */
export interface AnswerBody extends Omit<QuestionReply, 'by' | 'via'> {
  /** The digest of the question on the page. */
  readonly digest: string;
}

/** `check` answers nothing; it only tells whether the answer fits its question. */
export interface CheckedAnswer {
  /** The difference of the edited arguments to the shown ones, in unified format; empty when there is none. */
  readonly diff: string;
}

export interface AgentView {
  readonly name: string;
  /** `Model/name`, if the bundle is known. */
  readonly model?: string;
  /** The agents that this agent may call, if the bundle is known. */
  readonly mayAsk?: readonly string[];
  readonly tools: readonly string[];
  /** The tools again, each with its source and the last time an extension offered it. */
  readonly toolSources: readonly ToolSource[];
  /** Extensions whose tools are unknown, each with a way to find them out. */
  readonly unknownTools: readonly UnknownTools[];
  /** `Tool/name` of each tool that defines its exports in code and was not loaded yet; absent when there is none. */
  readonly schemaInCode?: readonly string[];
  readonly extensions: readonly string[];
  /** The layers of each kind, outermost first; empty for an agent that never started. */
  readonly layers: readonly LayerSummary[];
}

export interface InstanceView extends InstanceAddress {
  readonly status: InstanceStatus['status'];
  readonly messages: number;
  /** `null` before the first turn. */
  readonly updatedAt: string | null;
  readonly queued: number;
  readonly crashes: number;
  readonly problem?: string;
  /** Present if the last recorded turn failed, and is one of the newest 1000 of the workspace. */
  readonly failed?: true;
  /**
   * The status of the services that the instance's extensions depend on, such as MCP servers. Present while the
   * instance has a process.
   */
  readonly extensions?: readonly ExtensionStatusChanged[];
}

/**
 * `?at=SEQ` selects the conversation after that event. `?last=N` selects its newest N messages; 200 by default, at most
 * 1000.
 */
export interface ConversationView {
  /** The event after which the conversation is shown. */
  readonly seq: number;
  /** The first and the last kept event; both are 0 when no event is kept. */
  readonly first: number;
  readonly last: number;
  /** The number of earlier messages that are not sent. */
  readonly earlier: number;
  readonly messages: readonly Sent<BlamedMessage>[];
}

/** An overview of a conversation: its newest 20 000 events. */
export interface TimelineView {
  readonly first: number;
  readonly last: number;
  /** The number of the event that the first character of `authors` stands for. */
  readonly from: number;
  /** One character per event: `i` input, `m` model, `t` tool, `e` extension, `r` runtime. */
  readonly authors: string;
  /** The turns, oldest first. */
  readonly turns: readonly TimelineTurn[];
}

export interface TimelineTurn {
  readonly turnId: string;
  /** The turn's first and last event. If the turn has no events, both are the event before the turn. */
  readonly from: number;
  readonly to: number;
  readonly committedAt: string;
  /** `completed`, `cancelled`, `failed`, `reset`, `fork`. */
  readonly result: string;
  /** Why the turn failed or was cancelled, with a suggestion. */
  readonly error?: TurnError;
}

/** `?before=SEQ&limit=N` selects a page; the limit is 100 by default, at most 1000. */
export type HistoryView = Sent<HistoryPage>;

/**
 * `?agent=…&instanceKey=…&last=N` selects turns, newest first; without an agent, it selects turns of the whole
 * workspace.
 */
export interface TurnList {
  readonly turns: readonly WithShortId<TurnSummary>[];
}

/** `?by=agent` chooses the fact to sum up by, as `gdn usage --by` does. */
export type UsageView = UsageReport;

/** A turn with the short form of its id, as commands and log lines show it. */
export type WithShortId<Turn> = Turn & { readonly shortId: string };

/**
 * `?id=` takes the id of a turn, a trace or an event, or the beginning of an id. The parts of model requests and the
 * replies are left out; `prompt` has them. A tool's result of more than 500 000 characters is a text with its beginning.
 */
export interface TraceView extends ReadTrace {
  readonly turns: readonly WithShortId<TurnTrace>[];
}

/** A text, and its whole length in characters if only its beginning is sent. */
export interface ShownText {
  readonly text: string;
  readonly characters?: number;
}

/**
 * The prompt of one model call: `?id=` takes the turn, `&effect=` the key of the call. `author` says in words who put a
 * part there. A part has at most 20 000 characters, the body 500 000.
 */
export interface PromptView {
  /** True if the body has the digest of the body that was sent. */
  readonly isExact: boolean;
  /** Why the body is not exact, as far as it is known. */
  readonly problems: readonly string[];
  readonly provider: string;
  readonly model?: string;
  readonly package?: string;
  readonly modelRef: string;
  readonly modelAuthor: string;
  /** The number of earlier messages that are not sent; at most 200 are. */
  readonly earlier: number;
  readonly messages: readonly (ShownText & { readonly role: string; readonly author: string })[];
  readonly tools: readonly (ShownText & { readonly name: string; readonly author: string })[];
  readonly params: readonly (ShownText & { readonly name: string; readonly author: string })[];
  /** The schema that the model got for its answer; absent when it got none. */
  readonly schema?: ShownText & { readonly author: string };
  /** The body as JSON; absent when a part of the request is missing. */
  readonly body?: ShownText;
  readonly reply?: ShownText & {
    readonly finishReason: string;
    readonly tokens: { readonly input: number; readonly output: number };
  };
  readonly error?: string;
}

/**
 * The notices of a swarm as its watchers get them, beginning with the earlier notices of the turns that are running.
 * `swarm`: the swarm started or stopped; also sent once at the beginning of the stream. `conversations`: conversations
 * were added or deleted while no swarm ran. Each notice is one message. A stream that is refused is closed with a
 * reason for people.
 */
export type StudioNotice =
  Sent<SwarmNotice> | { readonly type: 'swarm'; readonly isRunning: boolean } | { readonly type: 'conversations' };

/** `done` is false when there was nothing left to act on. */
export interface Done {
  readonly done: boolean;
}

/** A stored file. */
export interface FileView {
  readonly size: number;
  /** The bytes as base64. */
  readonly data: string;
}
