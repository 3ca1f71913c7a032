/** What is kept of an effect in a recording: what was asked for, and how it ended. JSON. */
import type { JsonValue } from '@goondan/types';
import type { RequestReferences } from './model-request.ts';

/** What goes through the one road to the outside, and which. */
export type EffectKind = 'model' | 'tool' | 'agent' | 'approval';

export interface EffectRecord {
  readonly key: string;
  readonly kind: EffectKind;
  /** The layer whose code asked, in the chain with this span; absent when the runtime did. */
  readonly by?: { readonly extension: string; readonly name: string; readonly span: string };
  /** Of a model call a `ModelRequestRecord`; else what was asked for, as it was. */
  readonly asked: JsonValue;
  /** Present in a model call that sent something. */
  readonly request?: RequestReferences;
  /** Absent when it was too long to be kept. */
  readonly outcome?: RecordedOutcome;
}

export type RecordedOutcome =
  { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly error: ThrownRecord };

/** An error as far as layers look at one. */
export interface ThrownRecord {
  readonly name?: string;
  readonly message: string;
  readonly code?: string;
  readonly suggestion?: string;
  readonly helpUrl?: string;
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
}
