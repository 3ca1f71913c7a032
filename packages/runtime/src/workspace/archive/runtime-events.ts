/**
 * Writes `runtime-events.jsonl`, a record of runtime events for people. The file is not synced: a power loss may lose
 * its last lines, but no state depends on them.
 */
import type { JsonObject } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';
import type { RotationLimits } from '../limits.ts';
import { FailStop } from '../lines/fail-stop.ts';
import type { LineWriter } from '../lines/gathered-log.ts';
import { RotatingLog } from '../lines/rotating-log.ts';

/** Opens the file for appending one line per event. Its folder must exist. */
export async function openRuntimeEvents(fs: Fs, path: string, limits: RotationLimits): Promise<LineWriter<JsonObject>> {
  const log = await RotatingLog.open(fs, path, limits);
  const serial = new FailStop(path);
  return {
    append: (events) =>
      serial.run(async () => {
        const lines = events.map((event) => `${JSON.stringify(event)}\n`);
        if (lines.length > 0) await log.write(Buffer.from(lines.join('')));
      }),
    async close() {
      await serial.settle();
      await log.close();
    },
  };
}
