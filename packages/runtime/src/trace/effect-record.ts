/** An effect in a recording, as JSON: the request and its outcome. */
import type { JsonValue } from '@goondan/types';
import type { RequestReferences } from './model-request.ts';

/** The kinds of effects. */
export type EffectKind = 'model' | 'tool' | 'agent' | 'approval' | 'budget';

export interface EffectRecord {
  readonly key: string;
  readonly kind: EffectKind;
  /**
   * The layer whose code made the request; absent when the runtime made the request. `span` is the span of the layer's
   * chain. For a model call that a layer made, it is the span of the call's own chain.
   */
  readonly by?: { readonly extension: string; readonly name: string; readonly span: string };
  /** The request; for a model call, a `ModelRequestRecord`. */
  readonly asked: JsonValue;
  /** Present for a model call that sent a request. */
  readonly request?: RequestReferences;
  /** Absent when the outcome was too long to keep. */
  readonly outcome?: RecordedOutcome;
}

export type RecordedOutcome =
  { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly error: ThrownRecord };

/** The fields of an error that layers may read. */
export interface ThrownRecord {
  readonly name?: string;
  readonly message: string;
  readonly code?: string;
  readonly suggestion?: string;
  readonly helpUrl?: string;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly failure?: string;
  readonly isFallback?: boolean;
}
