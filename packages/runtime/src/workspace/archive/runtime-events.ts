/**
 * Writes `runtime-events.jsonl`, a record of runtime events for people. It is not synced: a loss of power may lose the
 * last lines, but no state.
 */
import type { JsonObject } from '@goondan/types';
import type { Fs } from '../../ports/fs.ts';
import type { RotationLimits } from '../limits.ts';
import { FailStop } from '../lines/fail-stop.ts';
import type { LineWriter } from '../lines/gathered-log.ts';
import { RotatingLog } from '../lines/rotating-log.ts';

/** Opens the file, which gets one line per event; its folder must exist. */
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
