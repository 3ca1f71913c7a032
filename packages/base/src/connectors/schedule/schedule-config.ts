/** The config of `schedule`, as defined by its schema in connectors.yaml. */
import type { JsonObject } from '@goondan/types';

export interface ScheduleConfig {
  readonly entries: readonly ScheduleEntry[];
  /** The time zone of entries that do not set their own. */
  readonly timeZone?: string;
  readonly catchUp?: CatchUp;
}

/** How to handle missed times: skip them, emit only the newest, or emit all of them. */
export type CatchUp = 'none' | 'last' | 'all';

export interface ScheduleEntry {
  readonly name: string;
  readonly cron?: string;
  /** An interval: a number followed by `s`, `m`, `h` or `d`. */
  readonly every?: string;
  readonly timeZone?: string;
  readonly catchUp?: CatchUp;
  /** The text to send. `{{time}}` becomes the due time, in UTC. */
  readonly input?: string;
  readonly properties?: JsonObject;
}
