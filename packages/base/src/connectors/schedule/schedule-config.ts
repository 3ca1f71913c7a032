/** The config of `schedule`, as defined by its schema in connectors.yaml. */
import type { JsonObject } from '@goondan/types';

export interface ScheduleConfig {
  readonly entries: readonly ScheduleEntry[];
  /** The time zone of entries without their own. */
  readonly timeZone?: string;
  readonly catchUp?: CatchUp;
}

/** Missed times are skipped, or the newest of them comes late, or all of them do. */
export type CatchUp = 'none' | 'last' | 'all';

export interface ScheduleEntry {
  readonly name: string;
  readonly cron?: string;
  /** A number and `s`, `m`, `h` or `d`. */
  readonly every?: string;
  readonly timeZone?: string;
  readonly catchUp?: CatchUp;
  /** `{{time}}` is the time it was due, in UTC. */
  readonly input?: string;
  readonly properties?: JsonObject;
}
