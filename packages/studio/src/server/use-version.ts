import { useCallback, useEffect, useRef, useState } from 'react';

/**
 * Returns a counter and a function that increments it, at most once every `everyMs`, so that many notices cause few
 * requests.
 */
export function useVersion(everyMs: number): [number, () => void] {
  const [version, setVersion] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const lastAt = useRef(0);

  const grow = useCallback(() => {
    if (timer.current !== undefined) return;
    const waitMs = Math.max(0, lastAt.current + everyMs - Date.now());
    timer.current = setTimeout(() => {
      timer.current = undefined;
      lastAt.current = Date.now();
      setVersion((count) => count + 1);
    }, waitMs);
  }, [everyMs]);

  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return [version, grow];
}
