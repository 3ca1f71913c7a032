import {
  type AgentEvent,
  type AgentEventSource,
  type ContentPart,
  GoondanError,
  type JsonObject,
  type ReplyAddress,
} from '@goondan/types';
import { copyJsonObject } from '../../json/copy-json.ts';
import { readDemand } from '../../json/read-demand.ts';

const sourceKinds: readonly unknown[] = ['agent', 'connector', 'cli'] satisfies AgentEventSource['kind'][];

/**
 * Checks an event from outside and returns a frozen copy, so that neither its sender nor a layer can change it later.
 * Throws `E_EVENT_INVALID`, which names the field, or `E_OUTPUT_INVALID`.
 */
export function checkAgentEvent(event: AgentEvent, instanceKey: string): AgentEvent {
  if (typeof event !== 'object' || event === null) throw invalid('it is not an object');
  for (const field of ['id', 'type', 'instanceKey', 'traceId'] as const) checkText(event[field], field);
  if (event.instanceKey !== instanceKey) {
    throw invalid(`instanceKey is "${event.instanceKey}", but this instance is "${instanceKey}"`);
  }
  if (event.input !== undefined && typeof event.input !== 'string') throw invalid('input is not a text');
  if (event.content !== undefined && !Array.isArray(event.content)) throw invalid('content is not a list of parts');
  if (!(event.createdAt instanceof Date) || Number.isNaN(event.createdAt.getTime())) {
    throw invalid('createdAt is not a valid Date');
  }
  const { auth, metadata, output, replyTo, content } = event;
  return Object.freeze({
    ...event,
    createdAt: new Date(event.createdAt),
    source: checkSource(event.source),
    ...(content === undefined ? {} : { content: checkContent(content) }),
    ...(auth === undefined ? {} : { auth: frozenCopy(auth, 'auth') }),
    ...(metadata === undefined ? {} : { metadata: frozenCopy(metadata, 'metadata') }),
    ...(output === undefined ? {} : { output: readDemand(output) }),
    ...(replyTo === undefined ? {} : { replyTo: checkReplyTo(replyTo) }),
  });
}

function checkContent(content: readonly unknown[]): readonly ContentPart[] {
  // Safe: a part is checked when its message is emitted.
  return Object.freeze(content.map((part) => frozenCopy(part, 'content') as unknown as ContentPart));
}

function checkSource(source: unknown): AgentEventSource {
  const { kind, name } = Object(source) as Partial<AgentEventSource>;
  if (!sourceKinds.includes(kind)) throw invalid(`source.kind is not one of ${sourceKinds.join(', ')}`);
  checkText(name, 'source.name');
  // Safe: both fields were checked above.
  return frozenCopy(source, 'source') as unknown as AgentEventSource;
}

function checkReplyTo(replyTo: unknown): ReplyAddress {
  const { target, correlationId } = Object(replyTo) as Partial<ReplyAddress>;
  checkText(target, 'replyTo.target');
  checkText(correlationId, 'replyTo.correlationId');
  // Safe: both fields were checked above.
  return frozenCopy(replyTo, 'replyTo') as unknown as ReplyAddress;
}

function checkText(value: unknown, field: string): void {
  if (typeof value !== 'string' || value === '') throw invalid(`${field} is not a text`);
}

function frozenCopy(value: unknown, field: string): JsonObject {
  return copyJsonObject(value, { freeze: true, refuse: ({ message }) => invalid(`${field}: ${message}`) });
}

function invalid(problem: string): GoondanError {
  return new GoondanError('E_EVENT_INVALID', `Not an agent event: ${problem}.`);
}
