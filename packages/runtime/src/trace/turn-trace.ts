/**
 * One recorded turn, with the turns of other agents that it requested. The form is JSON. Fields may be added, but are
 * never renamed.
 */
import type {
  AgentAddress,
  AgentEventSource,
  ApprovalOutcome,
  CodePlace,
  ExtensionStatusChanged,
  JsonObject,
  JsonValue,
  MiddlewareKind,
  ModelReply,
  TokenUsage,
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
  /** The span of the agent that requested the turn. */
  readonly parentSpanId?: string;
  /** The sender of the turn's input: another agent, a connector, or a person at a terminal. */
  readonly source: AgentEventSource;
  readonly startedAt: string;
  /** The first words of the turn's input. */
  readonly input?: string;
  /**
   * The time from the turn's start to its end. This field and the next two are absent while the end of the turn is not
   * recorded.
   */
  readonly durationMs?: number;
  readonly finishReason?: TurnResult['finishReason'];
  /** How the turn ended, as one word that people read. */
  readonly ending?: TurnEnding;
  /** True when the answer reached a token limit and is incomplete. */
  readonly truncated?: true;
  /** The first characters of the answer as JSON, if the turn demanded a schema. */
  readonly output?: string;
  readonly stepCount?: number;
  /** The tokens of the turn's own model calls and of the agents that it called. Absent while it runs. */
  readonly usage?: TokenUsage;
  /** The part of `usage` that called agents used. */
  readonly called?: TokenUsage;
  /** The events whose inputs the turn took while it ran, in order. Absent when there are none. */
  readonly took?: readonly string[];
  readonly error?: string;
  /** The place where bundle code threw, if that made the turn fail. */
  readonly place?: CodePlace;
  /** One line for each frame of bundle code; frames of Goondan are counted in one line. */
  readonly stack?: string;
  /** How often the turn was resumed after a crash. Records that were not yet written at the crash are missing. */
  readonly resumes: number;
}

export interface TurnTrace extends TurnSummary {
  /**
   * The digests of the plans whose turn layers ran, in order. Present when a process resumed the turn with another plan
   * than before.
   */
  readonly turnPlans?: readonly string[];
  readonly chain: ChainRecord;
  /** The last known status of each thing that the extensions need, such as MCP servers. */
  readonly extensions?: readonly ExtensionStatusChanged[];
  readonly missing: MissingRecords;
}

/** Counts of the records that are missing in a trace. */
export interface MissingRecords {
  /** The number of chains over the limit of one turn. */
  readonly chains: number;
  /**
   * The number of lines that are missing or cannot be read. A line is missing if the disk failed, or if lines came too
   * fast to be written.
   */
  readonly lines: number;
  /** True if the file reached its size limit, so that later records are missing. */
  readonly isCut: boolean;
}

/** The answer of a person: the decision, the name of the person or of their token, and the door. The content of a form is left out. */
export interface GivenAnswer extends Pick<ApprovalOutcome, 'decision' | 'by' | 'via' | 'args'> {
  /** The kind of the question, if it did not ask for an approval. `approved` then means answered, and `denied` declined. */
  readonly kind?: 'form' | 'page';
  /** The arguments before the person changed them, as they were shown. */
  readonly before?: JsonObject;
  /** The id of the question, if the person changed the arguments. `args` are the changed ones, with secrets masked. */
  readonly question?: string;
  /** The id of the earlier answer, given for always, that was used instead. */
  readonly grant?: string;
  /** The time from the question to its answer, if no process waited for it meanwhile, as in a swarm that was stopped. */
  readonly afterMs?: number;
}

export interface LayerRecord {
  readonly extension: string;
  readonly name: string;
  readonly kind: MiddlewareKind;
  /** The time since the start of the turn. */
  readonly startMs: number;
  /** The layer's own time, without everything inside it, and without the time that it waited for a person. */
  readonly ownMs: number;
  /** The time that the layer waited for a person; absent if it asked nobody. */
  readonly waitedMs?: number;
  /** The first 16 answers of people to the layer; absent if there is none. */
  readonly answers?: readonly GivenAnswer[];
  /** Sentences about budgets that refused the call of the layer, or that are exceeded; absent if there is none. */
  readonly notes?: readonly string[];
  readonly totalMs: number;
  readonly outcome: 'running' | 'passed' | 'short_circuit' | 'skipped' | 'failed';
  /**
   * The stage of a running layer: `in` before `next()`, `inside` while `next()` is pending, `out` after `next()` has
   * settled.
   */
  readonly stage?: 'in' | 'inside' | 'out';
  /** True if the layer failed before it called `next()`. */
  readonly isBeforeNext?: true;
  /** True if the layer failed although `next()` had returned a result. */
  readonly isAfterNext?: true;
  /** The layer's changes, before `next()`, to the fields of its chain: the catalog, the arguments, the model call. */
  readonly changed: readonly Change[];
  /** The layer's changes to the result of `next()`. */
  readonly resultChanged: readonly Change[];
  /** Message events in short form, such as `append system <id>`. */
  readonly emitted: readonly string[];
  /** The number of emitted events that are not listed. */
  readonly emittedMore: number;
  /** The number of listed events that were emitted after `next()` settled. */
  readonly emittedAfter?: number;
  /** The messages in the emitted events, by message id. */
  readonly messages: readonly Change[];
  /** True if the list of changes is incomplete. */
  readonly isCut?: true;
  /** Digests of everything the layer did before and after `next()`; present when the lists are incomplete. */
  readonly marks?: { readonly in: string; readonly out: string };
  /** The draws that the layer's code took from the clock and from random numbers, in order. */
  readonly drew?: readonly Draw[];
  /** The number of draws that are not listed. */
  readonly drewMore?: number;
  readonly error?: string;
  /** True if the error was caused by the cancel of the turn, so the layer itself did not fail. */
  readonly isCancelled?: true;
  /** The place where the layer's code threw. */
  readonly place?: CodePlace;
  /** One line for each frame of bundle code; frames of Goondan are counted in one line. */
  readonly stack?: string;
}

/** An input for a running turn. */
export interface TookRecord {
  readonly eventId: string;
  readonly source: AgentEventSource;
  /** The first words of the input. */
  readonly input: string;
}

/**
 * One chain, in the same form in memory, on disk and on the wire: its kind, the work of its layers, and its outcome.
 */
export interface ChainRecord {
  readonly kind: MiddlewareKind;
  readonly label: string;
  readonly id: string;
  readonly spanId: string;
  /** The layer whose code requested the chain; absent when the runtime did. */
  readonly by?: { readonly extension: string; readonly name: string };
  /** The time since the start of the turn. */
  readonly startMs: number;
  readonly totalMs: number;
  /** The layers of the chain, outermost first. */
  readonly layers: readonly LayerRecord[];
  /** The number of layers that are not listed. */
  readonly layersMore?: number;
  /** Chains that ran inside this one, in the order they started. */
  readonly inside: readonly ChainRecord[];
  /** Turns of other agents that the chain requested, in the order they started. */
  readonly called: readonly TurnTrace[];
  /** A digest of the plan that a step ran with, or whose layers ran around a turn. */
  readonly plan?: string;
  /** The inputs that came in while the turn ran, and that it took just before this step. Absent when there are none. */
  readonly took?: readonly TookRecord[];
  /**
   * The key of the effect, for a model or tool call. The record of the effect has the request that reached the model or
   * handler.
   */
  readonly effect?: string;
  /** The request that reached the model, for a model call. */
  readonly request?: ModelRequestRecord & Partial<RequestReferences>;
  /** The reply of the model, before the layers changed it; absent when the call failed or the reply was too long. */
  readonly reply?: ModelReply;
  /** For a tool call: the arguments that reached the handler, and its result. */
  readonly args?: JsonObject;
  readonly result?: JsonValue;
  /** A short form of the arguments of a tool call, or of the last message in a model call made by a layer. */
  readonly input?: string;
  /** A digest of the full request that a layer made. */
  readonly asked?: string;
  /** The outcome: how a model or a turn finished, or the status of a tool call. */
  readonly outcome?: string;
  /** Present in a model call. */
  readonly tokens?: {
    readonly input: number;
    readonly output: number;
    /** The input tokens that the provider read from its cache, and those that it wrote to it. Absent when 0. */
    readonly cacheRead?: number;
    readonly cacheWrite?: number;
  };
  /** The time that a model call waited for the limits of its model, as a part of the total time. */
  readonly limitMs?: number;
  /** The limit that an unfinished model call waits for, in words, and the time since the start of the turn. */
  readonly limitWait?: { readonly limit: string; readonly startMs: number };
  /** The time that the handler of a tool call waited for people, as a part of the total time; absent if it asked nobody. */
  readonly waitedMs?: number;
  /** The first 16 answers of people to the handler; absent if there is none. */
  readonly answers?: readonly GivenAnswer[];
  /**
   * The time since the start of the turn at which the handler or a layer of an unfinished chain asked a person who has not
   * answered yet.
   */
  readonly askedMs?: number;
  /** The tokens that were reserved for a model call: an estimate of its input, and the most that its answer may have. */
  readonly reservedTokens?: number;
  /** The error that the chain threw, or that a tool returned. */
  readonly error?: string;
  /** True if the error was caused by the cancel of the turn, so the chain itself did not fail. */
  readonly isCancelled?: true;
  /** The place where bundle code threw: the code of a layer, or the handler of the tool. */
  readonly place?: CodePlace;
  /** The stack of a tool whose handler threw, in the same form as for a layer. */
  readonly stack?: string;
  /** The delay before the retry of a failed step. */
  readonly retryMs?: number;
  /** True if the end of the chain is not recorded, because the chain is still running, or a crash interrupted it. */
  readonly isUnfinished?: true;
}
