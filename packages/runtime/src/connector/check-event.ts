/** Checks an event of a connector before it is sent, because bundle code may pass anything. */
import { GoondanError } from '@goondan/types';
import { Misfit, name, object } from '../ipc/check/shape.ts';
import { heardEvent, type HeardEvent } from '../ipc/from-connector.ts';
import { isPlainObject } from '../json/copy-json.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';

const withId = object({ id: name });

/** Checks an event, and generates a missing id or time. Throws `E_CONNECTOR_EVENT`. */
export function checkEvent(
  event: unknown,
  { clock, ids }: { clock: Clock; ids: Ids },
): { readonly id: string; readonly heard: HeardEvent } {
  try {
    if (!isPlainObject(event)) throw new Misfit('is not an object');
    const { id } = withId({ id: event.id ?? ids.next('heard') });
    return { id, heard: heardEvent({ ...event, createdAt: event.createdAt ?? clock.now() }) };
  } catch (error) {
    if (!(error instanceof Misfit)) throw error;
    throw new GoondanError('E_CONNECTOR_EVENT', `An event cannot be emitted: ${error.message}.`, { cause: error });
  }
}
