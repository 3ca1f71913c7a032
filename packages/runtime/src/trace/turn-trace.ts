/** One recorded turn, with the turns of other agents that it asked for. JSON; fields are added, never renamed. */
import type {
  AgentAddress,
  AgentEventSource,
  CodePlace,
  ExtensionStatusChanged,
  JsonObject,
  JsonValue,
  MiddlewareKind,
  TurnEnding,
  TurnResult,
} from '@goondan/types';
import type { Change } from '../json/diff-json.ts';
import type { Draw } from './draw-scope.ts';
import type { ModelRequestRecord, RequestReferences } from './model-request.ts';

export interface TurnSummary extends AgentAddress {
  readonly turnId: string;
  readonly traceId: string;
  readonly spanId: string;
  /** The span of the agent that asked for it. */
  readonly parentSpanId?: string;
  /**
   * The sender of its input: another agent, a connector, a person at a terminal. Absent in records of an older version.
   */
  readonly source?: AgentEventSource;
  readonly startedAt: string;
  /** The first words of its input. */
  readonly input?: string;
  /** The time from the turn's beginning to its end. Absent, like the next two, while its end is not recorded. */
  readonly durationMs?: number;
  readonly finishReason?: TurnResult['finishReason'];
  /** How the turn ended, in one word for people. */
  readonly ending?: TurnEnding;
  /** True when the answer reached a token limit and is incomplete. */
  readonly truncated?: true;
  readonly stepCount?: number;
  readonly error?: string;
  /** The place where code of the bundle threw, if that made the turn fail. */
  readonly place?: CodePlace;
  /** A line for each frame of its code; frames of goondan are counted in one line. */
  readonly stack?: string;
  /** The number of continuations after a crash. Records that the crash prevented are missing. */
  readonly resumes: number;
}

export interface TurnTrace extends TurnSummary {
  readonly chain: ChainRecord;
  /** The last status in this turn of each thing that its extensions need, such as MCP servers. */
  readonly extensions?: readonly ExtensionStatusChanged[];
  readonly missing: MissingRecords;
}

/** Counts of the records that are missing in a trace. */
export interface MissingRecords {
  /** The number of chains over the limit of one turn. */
  readonly chains: number;
  /**
   * The number of lines that could not be written, because the disk failed or they came too fast, or that cannot be
   * read.
   */
  readonly lines: number;
  /** True when the file was full: later records are missing. */
  readonly isCut: boolean;
}

export interface LayerRecord {
  readonly extension: string;
  readonly name: string;
  readonly kind: MiddlewareKind;
  /** The time since its turn began. */
  readonly startMs: number;
  /** The time without its inside. */
  readonly ownMs: number;
  readonly totalMs: number;
  readonly outcome: 'running' | 'passed' | 'short_circuit' | 'skipped' | 'failed';
  /** The stage of a running layer: on its way in, before `next()`; inside, after `next()` was called; on its way out. */
  readonly stage?: 'in' | 'inside' | 'out';
  /** True when a failed layer had not called `next()`. */
  readonly isBeforeNext?: true;
  /** Fields it changed before `next()`: the catalog, the arguments, the model call. */
  readonly changed: readonly Change[];
  /** The layer's changes to the result that came from inside. */
  readonly resultChanged: readonly Change[];
  /** Message events, in short: `append system <id>`. */
  readonly emitted: readonly string[];
  /** The number of emitted events that are not listed. */
  readonly emittedMore: number;
  /** The number of listed events that came after the inside. */
  readonly emittedAfter?: number;
  /** The messages of those events, by their ids. */
  readonly messages: readonly Change[];
  /** True when not all changes are listed. */
  readonly isCut?: true;
  /** Digests of everything it did on the way in and out, when the lists are incomplete. */
  readonly marks?: { readonly in: string; readonly out: string };
  /** The draws of its code from the clock and from random numbers, in order. */
  readonly drew?: readonly Draw[];
  /** The number of draws that are not listed. */
  readonly drewMore?: number;
  readonly error?: string;
  /** True when the error comes from the cancel of its turn: the layer did not fail. */
  readonly isCancelled?: true;
  /** The place where its code threw. */
  readonly place?: CodePlace;
  /** A line for each frame of its code; frames of goondan are counted in one line. */
  readonly stack?: string;
}

/** One chain, the same in memory, on disk and on the wire: its kind, the work of its layers, its outcome. */
export interface ChainRecord {
  readonly kind: MiddlewareKind;
  readonly label: string;
  readonly id: string;
  /** Absent for a model call that an earlier version recorded. */
  readonly spanId?: string;
  /** The layer whose code asked for it; absent when the runtime did. */
  readonly by?: { readonly extension: string; readonly name: string };
  /** The time since its turn began. */
  readonly startMs: number;
  readonly totalMs: number;
  /** Outermost first. */
  readonly layers: readonly LayerRecord[];
  /** Layers beyond those listed. */
  readonly layersMore?: number;
  /** Chains that ran inside this one, in the order they started. */
  readonly inside: readonly ChainRecord[];
  /** Turns of other agents that it asked for, in the order they started. */
  readonly called: readonly TurnTrace[];
  /** A digest of the plan that a step ran with. */
  readonly plan?: string;
  /** The key of the effect of a model or tool call, whose record has the request that reached the model or handler. */
  readonly effect?: string;
  /** The request of a model call, as it reached the model. */
  readonly request?: ModelRequestRecord & Partial<RequestReferences>;
  /** The arguments that reached the handler of a tool call, and its result. */
  readonly args?: JsonObject;
  readonly result?: JsonValue;
  /** A short form of the arguments of a tool call, or of the last message in a layer's own model call. */
  readonly input?: string;
  /** A digest of the full request that a layer made. */
  readonly asked?: string;
  /** The outcome: how a model or a turn finished, the status of a tool call. */
  readonly outcome?: string;
  /** Present in a model call. */
  readonly tokens?: { readonly input: number; readonly output: number };
  /** The error it threw, or the one that a tool returned. */
  readonly error?: string;
  /** True when the error comes from the cancel of its turn: the chain did not fail. */
  readonly isCancelled?: true;
  /** The place where code of the bundle threw: that of a layer, or the handler of the tool. */
  readonly place?: CodePlace;
  /** The stack of a tool whose handler threw, in the form of a layer's. */
  readonly stack?: string;
  /** The delay before the retry of a failed step. */
  readonly retryMs?: number;
  /** True when its end is not recorded: it still runs, or a crash interrupted it. */
  readonly isUnfinished?: true;
}
