import type { ModelFinishReason } from '@goondan/types';
import type { ChainSpan } from '../../trace/layer-span.ts';
import type { SpanIds } from '../../trace/span-id.ts';
import type { AskingLayer } from '../pipeline/layer-context.ts';
import type { ToolCatalog } from '../tool/tool-catalog.ts';
import type { StepIdentity } from './delta-gate.ts';
import type { RunningTurn } from './running-turn.ts';

/** One step while it runs. */
export interface RunningStep extends StepIdentity {
  readonly span: ChainSpan | undefined;
  readonly spanIds: SpanIds;
  /** The tools registered when the step began; layers may change this catalog. */
  readonly catalog: ToolCatalog;
  /** The model of the step; model layers may choose another one. */
  modelRef: string;
  /** The extension that answered in place of the model. */
  repliedBy: string | undefined;
  /** Extensions that answered in place of a tool, by the id of the call. */
  readonly answeredBy: Map<string, string>;
  /** The finish reason of the model's reply; undefined before the reply. */
  finishReason: ModelFinishReason | undefined;
  /** The message id of the appended reply. */
  replyId: string | undefined;
  /** True once a tool's handler has started; from then on the step cannot be dropped. */
  toolStarted: boolean;
}

/** A layer that requests an effect of its own. `step` is undefined for a turn layer. */
export interface LayerAsk {
  readonly turn: RunningTurn;
  readonly step: RunningStep | undefined;
  readonly scope: string;
  readonly layer: AskingLayer;
}
