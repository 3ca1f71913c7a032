/** One turn as it was recorded, and the turns of other agents that it asked for. JSON; fields are added, never renamed. */
import type {
  AgentAddress,
  AgentEventSource,
  CodePlace,
  ExtensionStatusChanged,
  TurnEnding,
  TurnResult,
} from '@goondan/types';
import type { ChainRecord } from './chain-record.ts';

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
  readonly chain: TracedChain;
  /** How things were that its extensions need, MCP servers for example: each as it was last in this turn. */
  readonly extensions?: readonly ExtensionStatusChanged[];
  readonly missing: MissingRecords;
}

export interface TracedChain extends ChainRecord {
  readonly inside: readonly TracedChain[];
  /** Turns of other agents that it asked for, in the order they started. */
  readonly called: readonly TurnTrace[];
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
