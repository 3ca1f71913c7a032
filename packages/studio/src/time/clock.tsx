/** Shows how long something has been running. All clocks of the page tick with one timer. */
import { createContext, type ReactNode, use } from 'react';
import { useTicks } from '../server/use-ticks.ts';
import { describeSeconds } from './describe-time.ts';

const Now = createContext(0);

/** Makes the clocks inside it tick, each second while the page is visible. */
export function ClockTicks({ children }: { readonly children: ReactNode }) {
  useTicks(1_000);
  return <Now value={Date.now()}>{children}</Now>;
}

/** `since`: a time as a text, or in milliseconds. Shows nothing if it is not known. */
export function Clock({ since }: { readonly since: string | number | undefined }) {
  const now = use(Now);
  const from = typeof since === 'string' ? Date.parse(since) : since;
  if (from === undefined || Number.isNaN(from)) return null;
  return <span className="clock">{describeSeconds(now - from)}</span>;
}
