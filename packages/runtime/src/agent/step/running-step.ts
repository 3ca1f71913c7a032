import type { ToolCatalogItem } from '@goondan/types';
import type { ChainSpan } from '../../trace/layer-span.ts';

/** One step while it runs. */
export interface RunningStep {
  readonly stepId: string;
  readonly stepIndex: number;
  readonly span: ChainSpan | undefined;
  /** Its layers may change it or put another in its place. */
  toolCatalog: ToolCatalogItem[];
  /** The id the reply was appended under. */
  replyId: string | undefined;
  /** A tool's handler has begun: what it did cannot be dropped with the step. */
  toolStarted: boolean;
}
