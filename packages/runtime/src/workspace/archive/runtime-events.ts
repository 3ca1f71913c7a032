/**
 * Writes the runtime events of all instances of a workspace, a record for people: one line per event, with the instance
 * first. The files are not synced: a power loss may lose the last lines, but no state depends on them.
 */
import type { JsonObject } from '@goondan/types';
import type { LineWriter } from '../lines/gathered-log.ts';
import type { SharedLog } from '../lines/shared-log.ts';

/** The stem of the file names. */
export const RUNTIME_EVENTS = 'runtime-events';

/** Returns the writer of an instance. `instance`: the name of its folder. */
export function runtimeEventWriter(
  log: Pick<SharedLog, 'append'>,
  instance: string,
  close: () => Promise<void>,
): LineWriter<JsonObject> {
  return {
    async append(events) {
      const lines = events.map((event) => `${eventsStart(instance)}${JSON.stringify(event).slice(1)}`);
      // The line break before the lines ends a partial line that a killed process may have left.
      if (lines.length > 0) await log.append(Buffer.from(`\n${lines.join('\n')}\n`));
    },
    close,
  };
}

/** Returns the beginning of each line of an instance. The fields of the event follow, the time first. */
export function eventsStart(instance: string): string {
  return `{"instance":${JSON.stringify(instance)},`;
}
