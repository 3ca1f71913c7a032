/** Checks an event of a connector before it is sent, because bundle code may pass anything. */
import { GoondanError } from '@goondan/types';
import { ShapeError, name, object } from '../ipc/check/shape.ts';
import { heardEvent, type HeardEvent } from '../ipc/from-connector.ts';
import { isPlainObject } from '../json/copy-json.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';

const withId = object({ id: name });

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
  return (event: unknown): { readonly id: string; readonly heard: HeardEvent } => {
    try {
      if (!isPlainObject(event)) throw new ShapeError('is not an object');
      const { id } = withId({ id: event.id ?? ids.next('heard') });
      return { id, heard: heardEvent({ ...event, createdAt: event.createdAt ?? clock.now() }) };
    } catch (error) {
      if (!(error instanceof ShapeError)) throw error;
      const malformed = new GoondanError('E_CONNECTOR_EVENT', `An event cannot be emitted: ${error.message}.`, {
        cause: error,
      });
      onMalformed(malformed);
      throw malformed;
    }
  };
}
