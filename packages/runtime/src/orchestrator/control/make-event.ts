/** Makes an agent event from the delivery of a client. */
import {
  type AgentAddress,
  type AgentEvent,
  type ContentPart,
  GoondanError,
  type InputPart,
  type JsonObject,
  toContentPart,
} from '@goondan/types';
import { copyJsonObject, isPlainObject, NotJson } from '../../json/copy-json.ts';
import { defined } from '../../json/defined.ts';
import { readDemand } from '../../json/read-demand.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ids } from '../../ports/ids.ts';
import { isSpanId, newTraceId } from '../../trace/span-id.ts';
import type { Delivery } from '../../control/swarm.ts';

const LONGEST_ID = 256;
const LONGEST_CLIENT = 64;
const TRACE_ID = /^(?!0{32})[0-9a-f]{32}$/;

/** Makes and checks the event. **Errors** — `E_EVENT_INVALID`, which names the field, and `E_OUTPUT_INVALID`. */
export function makeEvent(
  delivery: Delivery,
  entryAgent: string,
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
): { readonly to: AgentAddress; readonly event: AgentEvent } {
  const { agent = entryAgent, instanceKey = 'default', input, content, id, metadata, auth, traceId } = delivery;
  const { output, parentSpanId, isSampled, now, client = 'control' } = delivery;
  for (const [field, value] of Object.entries({ agent, instanceKey, input, id, client, traceId })) {
    if (value !== undefined && typeof value !== 'string') throw invalid(`${field} is not a text`);
  }
  if (id !== undefined && (id === '' || id.length > LONGEST_ID || !id.isWellFormed())) {
    throw invalid(`id is not a text of 1 to ${LONGEST_ID} characters`);
  }
  if (client === '' || client.length > LONGEST_CLIENT || !client.isWellFormed()) {
    throw invalid(`client is not a text of 1 to ${LONGEST_CLIENT} characters`);
  }
  if (traceId !== undefined && !TRACE_ID.test(traceId)) throw invalid('traceId is not 32 hexadecimal digits');
  if (parentSpanId !== undefined && !isSpanId(parentSpanId)) throw invalid('parentSpanId is not 16 hexadecimal digits');
  if (parentSpanId !== undefined && traceId === undefined)
    throw invalid('parentSpanId needs a traceId, which is absent');
  if (isSampled !== undefined && typeof isSampled !== 'boolean') throw invalid('isSampled is neither true nor false');
  if (now !== undefined && typeof now !== 'boolean') throw invalid('now is neither true nor false');
  const event: AgentEvent = {
    id: id ?? ids.next('event'),
    type: 'user.message',
    instanceKey,
    source: { kind: 'cli', name: client },
    traceId: traceId ?? newTraceId(),
    createdAt: clock.now(),
    ...(now === true && { delivery: 'now' as const }),
    ...defined({ parentSpanId, isSampled, input }),
    ...(content === undefined ? {} : { content: toContent(content) }),
    ...(metadata === undefined ? {} : { metadata: copyField(metadata, 'metadata') }),
    ...(auth === undefined ? {} : { auth: copyField(auth, 'auth') }),
    ...(output === undefined ? {} : { output: readDemand(output) }),
  };
  return { to: { agentName: agent, instanceKey }, event };
}

/** Makes bytes JSON. The inbox checks the parts. */
function toContent(content: unknown): readonly ContentPart[] {
  if (!Array.isArray(content)) throw invalid('content is not a list of parts');
  // Safe: only fields that are bytes change, and every part is checked later.
  return content.map((part: unknown) =>
    isPlainObject(part) ? toContentPart(part as unknown as InputPart) : part,
  ) as ContentPart[];
}

function copyField(value: JsonObject, field: string): JsonObject {
  try {
    return copyJsonObject(value, { omitUndefined: true });
  } catch (error) {
    if (error instanceof NotJson) throw invalid(`${field}: ${error.message}`);
    throw error;
  }
}

function invalid(problem: string): GoondanError {
  return new GoondanError('E_EVENT_INVALID', `This cannot be delivered: ${problem}.`);
}
