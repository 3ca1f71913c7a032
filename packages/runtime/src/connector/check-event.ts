/** Checks an event of a connector before it is sent, because bundle code may pass anything. */
import { type ConnectorEvent, type ContentPart, GoondanError, type InputPart, toContentPart } from '@goondan/types';
import { findUnknownField, knownFields } from '../config/find-unknown-field.ts';
import { checkContent, MOST_FILES_FULL } from '../files/check-content.ts';
import { ShapeError, name, object } from '../ipc/check/shape.ts';
import { heardEvent, type HeardEvent } from '../ipc/from-connector.ts';
import { isPlainObject } from '../json/copy-json.ts';
import { readDemand } from '../json/read-demand.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';

const withId = object({ id: name });

const eventFields = knownFields<ConnectorEvent>(
  'an event',
  {
    name: true,
    input: true,
    properties: true,
    content: true,
    auth: true,
    metadata: true,
    output: true,
    id: true,
    createdAt: true,
    traceId: true,
    parentSpanId: true,
    isSampled: true,
  },
  {
    message: 'input',
    text: 'input',
    type: 'name',
    event: 'name',
    payload: 'properties',
    data: 'properties',
    instanceKey: 'properties',
    timestamp: 'createdAt',
  },
);

/** The runtime checks sizes where it stores the bytes, because only there the limit is known. */
const anySize = { maxFileBytes: Number.MAX_SAFE_INTEGER / MOST_FILES_FULL };

/** Makes bytes base64 and checks the parts. **Errors** — `E_FILE_INVALID`. */
function readContent(content: unknown): readonly ContentPart[] {
  if (!Array.isArray(content)) throw new ShapeError('is not a list of parts', 'content');
  // Safe: only fields that are bytes change, and `checkContent` checks every part.
  const parts = content.map((part: unknown) =>
    isPlainObject(part) ? toContentPart(part as unknown as InputPart) : part,
  );
  return checkContent(parts, anySize);
}

/**
 * Returns a function that checks an event, and generates a missing id or time. For a malformed event, the function
 * passes the error to `onMalformed` and throws it (`E_CONNECTOR_EVENT`). An event that the orchestrator rejects is
 * reported by the orchestrator.
 */
export function eventChecker({
  clock,
  ids,
  onMalformed,
}: {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly onMalformed: (error: GoondanError) => void;
}) {
  const refuse = (problem: string, cause?: unknown): GoondanError => {
    const error = new GoondanError('E_CONNECTOR_EVENT', `An event cannot be emitted: ${problem}.`, { cause });
    onMalformed(error);
    return error;
  };
  return (event: unknown): { readonly id: string; readonly heard: HeardEvent } => {
    const unknown = isPlainObject(event) ? findUnknownField(event, eventFields) : undefined;
    if (unknown !== undefined) throw refuse(unknown);
    try {
      if (!isPlainObject(event)) throw new ShapeError('is not an object');
      const { id } = withId({ id: event.id ?? ids.next('heard') });
      const { content, output, ...others } = event;
      const demand = output === undefined ? {} : { output: readDemand(output) };
      const heard = heardEvent({ ...others, ...demand, createdAt: event.createdAt ?? clock.now() });
      // The bytes leave in frames of their own, before this event.
      return { id, heard: content === undefined ? heard : { ...heard, content: readContent(content) } };
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      throw refuse(error.message, error);
    }
  };
}
