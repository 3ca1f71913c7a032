import type { ModelFinishReason } from '@goondan/types';
import type { ChainSpan } from '../../trace/layer-span.ts';
import type { SpanIds } from '../../trace/span-id.ts';
import type { AskingLayer } from '../pipeline/layer-context.ts';
import type { ToolCatalog } from '../tool/tool-catalog.ts';
import type { RunningTurn } from './running-turn.ts';

/** One step while it runs. */
export interface RunningStep {
  readonly stepId: string;
  readonly stepIndex: number;
  readonly span: ChainSpan | undefined;
  readonly spanIds: SpanIds;
  /** What was registered when it began; its layers may change it. */
  readonly catalog: ToolCatalog;
  /** Who is asked: the layers of the model call may choose another one. */
  modelRef: string;
  /** The extension that answered in place of the model. */
  repliedBy: string | undefined;
  /** Those that answered in place of a tool, by the id of the call. */
  readonly answeredBy: Map<string, string>;
  /** How the model's reply ended; undefined while there is none. */
  finishReason: ModelFinishReason | undefined;
  /** The id the reply was appended under. */
  replyId: string | undefined;
  /** A tool's handler has begun: what it did cannot be dropped with the step. */
  toolStarted: boolean;
}

/** A layer that asks for an effect of its own. `step` is undefined for a turn layer. */
export interface LayerAsk {
  readonly turn: RunningTurn;
  readonly step: RunningStep | undefined;
  readonly scope: string;
  readonly layer: AskingLayer;
}
