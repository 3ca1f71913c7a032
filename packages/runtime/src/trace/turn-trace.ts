/** One turn as it was recorded, and the turns of other agents that it asked for. JSON; fields are added, never renamed. */
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
  /** Who asked for it: another agent, a connector, somebody at a terminal. Absent where an older version recorded it. */
  readonly source?: AgentEventSource;
  readonly startedAt: string;
  /** The first words of what it was asked. */
  readonly input?: string;
  /** From its beginning to its end; absent, like the next two, while nothing was written down of its end. */
  readonly durationMs?: number;
  readonly finishReason?: TurnResult['finishReason'];
  /** The same in one word, for people. */
  readonly ending?: TurnEnding;
  /** The answer ended at a limit of tokens and is not whole. */
  readonly truncated?: true;
  readonly stepCount?: number;
  readonly error?: string;
  /** Where code of the bundle threw, when that made it fail. */
  readonly place?: CodePlace;
  /** A line for each frame of its code; frames of goondan are counted in one line. */
  readonly stack?: string;
  /** How often it went on after a crash. What the crash kept from being written down is missing. */
  readonly resumes: number;
}

export interface TurnTrace extends TurnSummary {
  readonly chain: ChainRecord;
  /** How things were that its extensions need, MCP servers for example: each as it was last in this turn. */
  readonly extensions?: readonly ExtensionStatusChanged[];
  readonly missing: MissingRecords;
}

/** What is not in a trace although it happened. */
export interface MissingRecords {
  /** Chains past the bound of one turn. */
  readonly chains: number;
  /** Lines that could not be written, because the disk failed or they came too fast, or that cannot be read. */
  readonly lines: number;
  /** The file was full: what came after is not there. */
  readonly isCut: boolean;
}

export interface LayerRecord {
  readonly extension: string;
  readonly name: string;
  readonly kind: MiddlewareKind;
  /** Since its turn began. */
  readonly startMs: number;
  /** Without what is inside it. */
  readonly ownMs: number;
  readonly totalMs: number;
  readonly outcome: 'running' | 'passed' | 'short_circuit' | 'skipped' | 'failed';
  /** How far a running layer is. */
  readonly stage?: LayerStage;
  /** True when a failed layer had not called `next()`. */
  readonly isBeforeNext?: true;
  /** Fields it changed before `next()`: the catalog, the arguments, the model call. */
  readonly changed: readonly Change[];
  /** Its changes to the result that came from inside. */
  readonly resultChanged: readonly Change[];
  /** Message events, in short: `append system <id>`. */
  readonly emitted: readonly string[];
  /** Emitted beyond those listed. */
  readonly emittedMore: number;
  /** How many of those listed came after what is inside it. */
  readonly emittedAfter?: number;
  /** The messages of those events, by their ids. */
  readonly messages: readonly Change[];
  /** There were more changes than are listed. */
  readonly isCut?: true;
  /** Digests of all it did on the way in and out, where what is listed does not say all. */
  readonly marks?: LayerMarks;
  /** The draws of its code from the clock and from chance, in order. */
  readonly drew?: readonly Draw[];
  /** Drawn beyond those. */
  readonly drewMore?: number;
  readonly error?: string;
  /** It has that error because its turn was cancelled: it did not fail. */
  readonly isCancelled?: true;
  /** Where its code threw. */
  readonly place?: CodePlace;
  /** A line for each frame of its code; frames of goondan are counted in one line. */
  readonly stack?: string;
}

/** On its way in, before `next()`; with what is inside it running; on its way out. */
export type LayerStage = 'in' | 'inside' | 'out';

export interface LayerMarks {
  readonly in: string;
  readonly out: string;
}

/** One chain, the same in memory, on disk and on the wire: what ran, what its layers did, what came of it. */
export interface ChainRecord {
  readonly kind: MiddlewareKind;
  readonly label: string;
  readonly id: string;
  /** Absent in what an earlier version recorded of a model call. */
  readonly spanId?: string;
  /** The layer whose code asked for it; absent when the runtime did. */
  readonly by?: { readonly extension: string; readonly name: string };
  /** Since its turn began. */
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
  /** The key of the effect of a model or tool call: under it the record has what reached the model or handler. */
  readonly effect?: string;
  /** The request of a model call, as it reached the model. */
  readonly request?: ModelRequestRecord & Partial<RequestReferences>;
  /** The arguments that reached the handler of a tool call, and its result. */
  readonly args?: JsonObject;
  readonly result?: JsonValue;
  /** In short, the arguments that a tool call was asked with; the last message of a layer's own model call. */
  readonly input?: string;
  /** A digest of everything that a layer asked with. */
  readonly asked?: string;
  /** The outcome: how a model or a turn finished, the status of a tool call. */
  readonly outcome?: string;
  /** Present in a model call. */
  readonly tokens?: { readonly input: number; readonly output: number };
  /** The error it threw, or the one a tool answered with. */
  readonly error?: string;
  /** It has that error because its turn was cancelled: it did not fail. */
  readonly isCancelled?: true;
  /** Where code of the bundle threw: of a layer, or the handler of the tool. */
  readonly place?: CodePlace;
  /** The stack of a tool whose handler threw, as of a layer. */
  readonly stack?: string;
  /** It failed, and was tried again after so long. */
  readonly retryMs?: number;
  /** Nothing was written down of its end: it runs, or a crash interrupted it. */
  readonly isUnfinished?: true;
}
