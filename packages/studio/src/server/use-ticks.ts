import { useEffect, useState } from 'react';

/** A number that grows with time while the page is visible, for changes without a notice. */
export function useTicks(everyMs: number): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === 'visible') setTicks((count) => count + 1);
    };
    const timer = setInterval(tick, everyMs);
    // A returning reader sees the current state.
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, [everyMs]);
  return ticks;
}
