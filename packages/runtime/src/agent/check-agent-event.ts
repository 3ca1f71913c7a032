import { type AgentEvent, GoondanError } from '@goondan/types';
import { copyJsonObject, NotJson } from '../json/copy-json.ts';

/** An event from outside, checked once. Throws `E_EVENT_INVALID` naming the field. */
export function checkAgentEvent(event: AgentEvent, instanceKey: string): AgentEvent {
  for (const field of ['id', 'type', 'instanceKey', 'traceId'] as const) {
    if (typeof event[field] !== 'string' || event[field] === '') throw invalid(`${field} is not a text`);
  }
  if (event.instanceKey !== instanceKey) {
    throw invalid(`instanceKey is "${event.instanceKey}", but this instance is "${instanceKey}"`);
  }
  if (event.input !== undefined && typeof event.input !== 'string') throw invalid('input is not a text');
  if (!(event.createdAt instanceof Date) || Number.isNaN(event.createdAt.getTime())) {
    throw invalid('createdAt is not a valid Date');
  }
  if (typeof event.source !== 'object' || event.source === null) throw invalid('source is missing');
  for (const field of ['auth', 'metadata'] as const) checkJson(event[field], field);
  return event;
}

function checkJson(value: unknown, field: string): void {
  if (value === undefined) return;
  try {
    copyJsonObject(value);
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw invalid(`${field}: ${error.message}`);
  }
}

function invalid(problem: string): GoondanError {
  return new GoondanError('E_EVENT_INVALID', `Not an agent event: ${problem}.`);
}
