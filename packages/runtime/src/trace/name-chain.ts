import type { ChainRecord } from './turn-trace.ts';

/**
 * Names a chain for people. A model call has the name of the model that was called; the name of the model that was asked for
 * follows, if a layer chose another one.
 */
export function nameChain({ kind, label, request }: Pick<ChainRecord, 'kind' | 'label' | 'request'>): string {
  if (kind !== 'model' || request === undefined || request.modelRef === label) return label;
  return `${request.modelRef} instead of ${label}`;
}
