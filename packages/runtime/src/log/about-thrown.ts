import type { JsonObject } from '@goondan/types';
import type { LogLine } from '../ports/log-line.ts';
import type { ThrownOrigin } from './locate-thrown.ts';

/** Returns two fields for a log line about a thrown value: `place`, and `data` with the stack. */
export function aboutThrown({ place, stack }: ThrownOrigin, data: JsonObject = {}): Pick<LogLine, 'place' | 'data'> {
  const about = stack === undefined ? data : { ...data, stack };
  return {
    ...(place === undefined ? {} : { place }),
    ...(Object.keys(about).length === 0 ? {} : { data: about }),
  };
}
