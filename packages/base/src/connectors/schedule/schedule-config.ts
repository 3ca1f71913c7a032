/** The config of `schedule`, as its schema in connectors.yaml has it. */
import type { JsonObject } from '@goondan/types';

export interface ScheduleConfig {
  readonly entries: readonly ScheduleEntry[];
  /** For entries that have none of their own. */
  readonly timeZone?: string;
  readonly catchUp?: CatchUp;
}

/** Times that were missed are left out, or the newest of them comes late, or all of them do. */
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
