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
  /** Tools registered when the step began; its layers may change the catalog. */
  readonly catalog: ToolCatalog;
  /** The model of the step; layers of the model call may choose another one. */
  modelRef: string;
  /** The extension that answered in place of the model. */
  repliedBy: string | undefined;
  /** Extensions that answered in place of a tool, by the id of the call. */
  readonly answeredBy: Map<string, string>;
  /** The finish reason of the model's reply; undefined before the reply. */
  finishReason: ModelFinishReason | undefined;
  /** The id of the appended reply. */
  replyId: string | undefined;
  /** True once a tool's handler has started: its effects cannot be dropped with the step. */
  toolStarted: boolean;
}

/** A layer that asks for its own effect. `step` is undefined for a turn layer. */
export interface LayerAsk {
  readonly turn: RunningTurn;
  readonly step: RunningStep | undefined;
  readonly scope: string;
  readonly layer: AskingLayer;
}
