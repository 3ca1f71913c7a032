import { useEffect, useState } from 'react';

/** A number that grows with time: for what changes without anybody telling. */
export function useTicks(everyMs: number): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((count) => count + 1), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return ticks;
}
