/**
 * The lines of a turn's trace file, each an object of JSON. A turn that was resumed has a `start` for each of its runs,
 * in one file. A chain is written when it is over, and before that if it takes longer than a moment; it counts as it is
 * there last.
 */
import type { AgentEventSource, CodePlace, ExtensionStatusChanged, TurnResult } from '@goondan/types';
import type { EffectRecord } from './effect-record.ts';
import type { HaltRecord } from './halt-record.ts';
import type { TurnBeginning } from './recording.ts';
import type { ResumePoint } from './resume-point.ts';
import type { ChainRecord } from './turn-trace.ts';

/** Format 1 is still read: its chains have no `plan` and no `effect`, its effects no `request`. */
export const TRACE_FORMAT = 2;

interface StartLine {
  readonly type: 'start';
  readonly format: number;
  readonly time: string;
  readonly turnId: string;
  readonly agentName: string;
  readonly instanceKey: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** Who asked for it. */
  readonly source?: AgentEventSource;
  readonly input?: string;
  readonly resumed?: true;
}

interface EndLine {
  readonly type: 'end';
  readonly time: string;
  readonly durationMs: number;
  readonly finishReason: TurnResult['finishReason'];
  readonly truncated?: true;
  readonly stepCount: number;
  readonly error?: string;
  /** Where code of the bundle threw. */
  readonly place?: CodePlace;
  readonly stack?: string;
  /** Chains past the bound. */
  readonly chainsMore?: number;
}

export type TraceLine =
  | StartLine
  /** The state that a replay begins with. */
  | ({ readonly type: 'beginning' } & TurnBeginning)
  /** Present in a run that goes on with another one's work. Without a point when that was too long to be kept. */
  | { readonly type: 'resume'; readonly point?: ResumePoint }
  | ({ readonly type: 'effect' } & EffectRecord)
  /** Chains are counted in the order in which they start in a run; the first is the turn's own and has no parent. */
  | { readonly type: 'chain'; readonly n: number; readonly parent?: number; readonly chain: ChainRecord }
  /** The run was cancelled, or left. Effects that ended before are in lines before it. */
  | ({ readonly type: 'halt' } & HaltRecord)
  /** The status of something that an extension needs: as the run began, and whenever it changed. */
  | { readonly type: 'status'; readonly status: ExtensionStatusChanged }
  | EndLine
  | { readonly type: 'dropped'; readonly count: number }
  /** The file is full: chains that come now are not written. */
  | { readonly type: 'cut' };

export type LineOf<Type extends TraceLine['type']> = Extract<TraceLine, { readonly type: Type }>;
