/**
 * What is kept of a turn so that it can be run again without asking anybody: what it began with, every effect and how it
 * ended, and its chains with what their layers did and drew. JSON.
 */
import type { AgentEvent } from '@goondan/types';
import type { ChainRecord } from './chain-record.ts';
import type { Draw } from './draw-scope.ts';
import type { EffectRecord } from './effect-record.ts';

export interface TurnBeginning {
  readonly event: StoredEvent;
  /** Those of the agent, in the order they were loaded. */
  readonly extensions: readonly RecordedExtension[];
}

/** An agent event as JSON. */
export type StoredEvent = Omit<AgentEvent, 'createdAt'> & { readonly createdAt: string };

export interface RecordedExtension {
  readonly name: string;
  /** Of its module, what that imports, and its config without secrets. */
  readonly digest: string;
  /** Names of the tools it had registered when the agent started; absent when it had none. */
  readonly tools?: readonly string[];
  /** What its `register` drew from the clock and from chance. */
  readonly drew?: readonly Draw[];
}

export interface Recording extends TurnBeginning {
  readonly turnId: string;
  readonly startedAt: string;
  readonly chain: ChainRecord;
  readonly effects: readonly EffectRecord[];
}
