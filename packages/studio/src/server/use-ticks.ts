import { useEffect, useState } from 'react';

/** A number that grows with time, while somebody looks: for what changes without anybody telling. */
export function useTicks(everyMs: number): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === 'visible') setTicks((count) => count + 1);
    };
    const timer = setInterval(tick, everyMs);
    // Whoever comes back sees what is there now.
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, [everyMs]);
  return ticks;
}
