/**
 * The lines of a turn's trace file, each a JSON object. A resumed turn has a `start` line for each of its runs, in the
 * same file. A chain is written when it ends, and also earlier if it takes long; the last line of a chain is the valid
 * one.
 */
import type { AgentAddress, ExtensionStatusChanged } from '@goondan/types';
import type { EffectRecord } from './effect-record.ts';
import type { HaltRecord } from './halt-record.ts';
import type { Recording } from './recording.ts';
import type { ResumePoint } from './resume-point.ts';
import type { ChainRecord, TurnSummary } from './turn-trace.ts';

interface StartLine extends Pick<
  TurnSummary,
  keyof AgentAddress | 'turnId' | 'traceId' | 'spanId' | 'parentSpanId' | 'source' | 'input'
> {
  readonly type: 'start';
  readonly time: string;
  readonly resumed?: true;
}

export type TraceLine =
  | StartLine
  /** The state from which a replay starts. */
  | ({ readonly type: 'beginning' } & Pick<Recording, 'event' | 'extensions'>)
  /** Present in a run that continues another run. `point` is absent when the resume point was too long to store. */
  | { readonly type: 'resume'; readonly point?: ResumePoint }
  | ({ readonly type: 'effect' } & EffectRecord)
  /**
   * Chains are numbered in the order in which they start in a run. The first is the turn chain, which has no parent.
   */
  | { readonly type: 'chain'; readonly n: number; readonly parent?: number; readonly chain: ChainRecord }
  /** The run was cancelled, or its process left the turn. Effects that ended before have earlier lines. */
  | ({ readonly type: 'halt' } & HaltRecord)
  /**
   * The status of something that an extension needs, such as an MCP server. The line is written at the start of the
   * run, and after each change.
   */
  | { readonly type: 'status'; readonly status: ExtensionStatusChanged }
  /** `chainsMore`: the number of chains above the limit. */
  | ({ readonly type: 'end'; readonly time: string; readonly chainsMore?: number } & Required<
      Pick<TurnSummary, 'durationMs' | 'finishReason' | 'stepCount'>
    > &
      Pick<TurnSummary, 'truncated' | 'output' | 'usage' | 'called' | 'took' | 'error' | 'place' | 'stack'>)
  | { readonly type: 'dropped'; readonly count: number }
  /** The file reached its size limit, so later chains are missing. */
  | { readonly type: 'cut' };

export type LineOf<Type extends TraceLine['type']> = Extract<TraceLine, { readonly type: Type }>;
