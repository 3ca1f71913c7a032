import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';

/** Whoever reads the newest goes on reading the newest; whoever looked up stays where he is. */
export function useStickToEnd(content: readonly unknown[], isOn: boolean): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const { current } = box;
    if (current === null) return;
    const look = () => {
      isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < 60;
    };
    current.addEventListener('scroll', look, { passive: true });
    return () => current.removeEventListener('scroll', look);
  }, []);
  useLayoutEffect(() => {
    if (isOn && isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [...content, isOn]);
  return box;
}
