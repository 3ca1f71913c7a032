import { useEffect, useState } from 'react';

/** Returns a counter that increments at an interval while the page is visible, for changes that send no notice. */
export function useTicks(everyMs: number): number {
  const [ticks, setTicks] = useState(0);
  useEffect(() => {
    const tick = () => {
      if (document.visibilityState === 'visible') setTicks((count) => count + 1);
    };
    const timer = setInterval(tick, everyMs);
    // Also ticks when the page becomes visible again, so that it shows the current state.
    document.addEventListener('visibilitychange', tick);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', tick);
    };
  }, [everyMs]);
  return ticks;
}
