/** Checks an event of a connector before it is sent, because bundle code may pass anything. */
import { type ConnectorEvent, GoondanError } from '@goondan/types';
import { findUnknownField, knownFields } from '../config/find-unknown-field.ts';
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
    content: 'input',
    type: 'name',
    event: 'name',
    payload: 'properties',
    data: 'properties',
    instanceKey: 'properties',
    timestamp: 'createdAt',
  },
);

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
      const output = event.output === undefined ? {} : { output: readDemand(event.output) };
      return { id, heard: heardEvent({ ...event, ...output, createdAt: event.createdAt ?? clock.now() }) };
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      throw refuse(error.message, error);
    }
  };
}
