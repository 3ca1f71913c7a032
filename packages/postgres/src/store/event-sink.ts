/** Keeps the runtime events of instances in rows, a record for people. The oldest events are removed. */
import type { EventSink } from '@goondan/runtime/history';
import { defaultLimits, type RotationLimits } from '@goondan/runtime/internal';
import type { AgentAddress } from '@goondan/types';
import type { Database } from '../driver/database.ts';
import { keepNewest } from './keep-newest.ts';
import { packLines } from './pack-lines.ts';
import { RecordBatches } from './record-batches.ts';
import type { RecordSinkOptions } from './trace-sink.ts';

interface EventLine {
  readonly instance: AgentAddress;
  readonly text: string;
}

export function openEventSink(
  database: Database,
  swarm: string,
  { clock, report, limits = defaultLimits.runtimeEvents }: RecordSinkOptions & { readonly limits?: RotationLimits },
): EventSink & { close(): Promise<void> } {
  const keep = keepNewest({
    most: limits.bytes * limits.files,
    remove: (most) => database.query(REMOVE_OLDEST, [swarm, most]),
    report: (error) => report(`old runtime events were not removed: ${String(error)}`),
  });
  const batches = new RecordBatches<EventLine>({
    ...(clock && { clock }),
    async write(lines) {
      await write(database, swarm, lines);
      await keep(lines.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0));
    },
  });
  return {
    open: async (instance) => ({
      async append(events) {
        const text = events.map((event) => `${JSON.stringify(event)}\n`).join('');
        if (text !== '') await batches.add([{ instance, text }], Buffer.byteLength(text));
      },
      close: async () => undefined,
    }),
    close: () => batches.close(),
  };
}

async function write(database: Database, swarm: string, lines: readonly EventLine[]): Promise<void> {
  const instances = Map.groupBy(lines, ({ instance: { agentName, instanceKey } }) =>
    JSON.stringify([agentName, instanceKey]),
  );
  const rows = await Promise.all(
    Array.from(instances.values(), async (ofInstance) => {
      const text = ofInstance.map((line) => line.text).join('');
      return { instance: ofInstance[0]?.instance, bytes: Buffer.byteLength(text), lines: await packLines(text) };
    }),
  );
  await database.query(WRITE, [
    swarm,
    rows.map(({ instance }) => instance?.agentName ?? ''),
    rows.map(({ instance }) => instance?.instanceKey ?? ''),
    rows.map(({ bytes }) => bytes),
    rows.map((row) => row.lines),
  ]);
}

const WRITE = `
insert into gdn_runtime_event (swarm, agent, key, bytes, lines)
select $1, agent, key, bytes, decode(lines, 'base64')
from unnest($2::text[], $3::text[], $4::bigint[], $5::text[]) as given (agent, key, bytes, lines)`;

const REMOVE_OLDEST = `
with sized as (
  select part, sum(bytes) over (order by part desc) as total from gdn_runtime_event where swarm = $1
)
delete from gdn_runtime_event event using sized
where event.swarm = $1 and event.part = sized.part and sized.total > $2`;
