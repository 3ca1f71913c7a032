import { useEffect, useRef } from 'react';

/** The distance in pixels that still counts as the end. */
const NEAR = 60;

/**
 * Keeps the view at the end while content grows. If the reader scrolled up, the view stays there until another moment
 * is shown. Returns the scrolling element, and its content, which grows.
 */
export function useStickToEnd(moment: number | undefined) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const { current: outer } = box;
    const { current: inner } = content;
    if (outer === null || inner === null) return;
    let lastTop = outer.scrollTop;
    const look = () => {
      const isUp = outer.scrollTop < lastTop;
      lastTop = outer.scrollTop;
      // Growing content changes the distance to the end, but it is not scrolling.
      if (outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR) isAtEnd.current = true;
      else if (isUp) isAtEnd.current = false;
    };
    const stick = () => {
      if (isAtEnd.current) outer.scrollTop = outer.scrollHeight;
      // Remembers the position after the content shrank, because that is not scrolling either.
      lastTop = outer.scrollTop;
    };
    outer.addEventListener('scroll', look, { passive: true });
    // Runs on any growth: a new word, an approval request, a narrower window.
    const watcher = new ResizeObserver(stick);
    watcher.observe(inner);
    watcher.observe(outer);
    return () => {
      outer.removeEventListener('scroll', look);
      watcher.disconnect();
    };
  }, []);
  useEffect(() => {
    isAtEnd.current = true;
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [moment]);
  return { box, content };
}
