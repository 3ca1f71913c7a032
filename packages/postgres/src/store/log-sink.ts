/** Keeps the log lines of a node in rows. Readers merge the lines of all nodes. The oldest lines are removed. */
import type { LogSink } from '@goondan/runtime/history';
import { type Clock, LogBuffer, systemClock } from '@goondan/runtime/internal';
import type { Database } from '../driver/database.ts';
import { keepNewest } from './keep-newest.ts';
import { packLines } from './pack-lines.ts';

export interface LogSinkOptions {
  readonly clock?: Clock;
  /** Called once whenever lines cannot be written. It must not write to this log. */
  readonly report: (problem: string) => void;
  /** The most bytes of lines to keep, of all nodes. */
  readonly most?: number;
}

const MOST_BYTES = 128 * 1024 * 1024;
const WAITING = 1024 * 1024;
const AT_ONCE = 64 * 1024;
const GATHER_MS = 250;

/** `node`: the name of the node, which readers show with its lines. */
export function openLogSink(database: Database, swarm: string, node: string, options: LogSinkOptions): LogSink {
  const { clock = systemClock, report, most = MOST_BYTES } = options;
  const keep = keepNewest({
    most,
    remove: (bytes) => database.query(REMOVE_OLDEST, [swarm, bytes]),
    report: (error) => report(`old log lines were not removed: ${String(error)}`),
  });
  const target = {
    path: 'the log in the database',
    async write(text: string) {
      const bytes = Buffer.byteLength(text);
      await database.query(WRITE, [swarm, node, lastTime(text), bytes, await packLines(text)]);
      await keep(bytes);
    },
    close: async () => undefined,
  };
  const warn = ({ path, message }: { readonly path: string; readonly message: string }) => report(`${path} ${message}`);
  return new LogBuffer(target, { clock, waiting: WAITING, atOnce: AT_ONCE, gatherMs: GATHER_MS, warn });
}

/** Returns the newest time of these lines. Lines of one chunk may be out of order, because a clock can be set back. */
function lastTime(text: string): string {
  let last = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    // Safe: `LogBuffer` encoded the lines.
    const { time } = JSON.parse(line) as { readonly time: string };
    if (time > last) last = time;
  }
  return last;
}

const WRITE = `
insert into gdn_log (swarm, node, last_at, bytes, lines) values ($1, $2, $3, $4, decode($5, 'base64'))`;

const REMOVE_OLDEST = `
with sized as (
  select part, sum(bytes) over (order by part desc) as total from gdn_log where swarm = $1
)
delete from gdn_log log using sized where log.swarm = $1 and log.part = sized.part and sized.total > $2`;
