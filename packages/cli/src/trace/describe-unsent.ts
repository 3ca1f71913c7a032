import type { UnsentCall } from '@goondan/runtime/history';

/** Says why a model call has no request to show. */
export function describeUnsent({ why, error }: Pick<UnsentCall, 'why' | 'error'>): string {
  if (why === 'failed' && error !== undefined)
    return `Nothing was sent to the model, because the call failed before: ${error}`;
  return reasons[why];
}

const reasons: Readonly<Record<UnsentCall['why'], string>> = {
  running: 'Its request is recorded when the call ends.',
  answered: 'A layer answered in place of the model, so nothing was sent.',
  failed: 'The call failed before anything was sent.',
  unreported: 'The model is an object of a program that does not report its requests.',
  unknown: 'Its request is not in the trace.',
};
