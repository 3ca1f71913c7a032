import { useEffect, useRef } from 'react';

/** The distance from the end, in pixels, at which the view still counts as being at the end. */
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
      // Only scrolling up leaves the end: growing content also increases the distance, but nobody scrolled.
      if (outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR) isAtEnd.current = true;
      else if (isUp) isAtEnd.current = false;
    };
    const stick = () => {
      if (isAtEnd.current) outer.scrollTop = outer.scrollHeight;
      // Remembers the position, because shrinking content moves the view up although nobody scrolled.
      lastTop = outer.scrollTop;
    };
    outer.addEventListener('scroll', look, { passive: true });
    // Runs on every change of size, such as a new word, a question, or a narrower window.
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
