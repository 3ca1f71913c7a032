import type { SwarmNotice } from './swarm.ts';

/** An object, so that the compiler misses one that is left out. */
const known: Readonly<Record<SwarmNotice['type'], true>> = {
  delta: true,
  'runtime.event': true,
  'turn.ended': true,
  log: true,
  approval: true,
  instance: true,
  dropped: true,
};

/** What a swarm tells those who watch. The compiler takes keys for any text. */
export const noticeTypes: readonly SwarmNotice['type'][] = Object.keys(known) as (keyof typeof known)[];

/** A newer server may tell more. */
export function isNotice(event: string): boolean {
  return Object.hasOwn(known, event);
}
