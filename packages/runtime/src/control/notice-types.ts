import type { SwarmNotice } from './swarm.ts';

/** An object, so that the compiler reports a missing type. */
const known: Readonly<Record<SwarmNotice['type'], true>> = {
  delta: true,
  'runtime.event': true,
  'turn.ended': true,
  log: true,
  approval: true,
  instance: true,
  dropped: true,
};

/** The types of notices. Safe: the compiler sees keys as any text. */
export const noticeTypes: readonly SwarmNotice['type'][] = Object.keys(known) as (keyof typeof known)[];

/** Tells whether this version knows the type; a newer server may send others. */
export function isNotice(event: string): boolean {
  return Object.hasOwn(known, event);
}
