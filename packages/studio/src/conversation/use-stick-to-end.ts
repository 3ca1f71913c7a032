import { type RefObject, useEffect, useRef } from 'react';

interface StickyBox {
  /** The scrolling element. */
  readonly box: RefObject<HTMLDivElement | null>;
  /** Its growing content. */
  readonly content: RefObject<HTMLDivElement | null>;
}

/** The distance in pixels that still counts as the end. */
const NEAR = 60;

/**
 * Keeps a reader at the end when content grows; a reader who scrolled up stays there, until another moment is shown.
 */
export function useStickToEnd(moment: number | undefined): StickyBox {
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
      // Content that is pushed down by new content does not count as scrolled.
      if (outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR) isAtEnd.current = true;
      else if (isUp) isAtEnd.current = false;
    };
    const stick = () => {
      if (isAtEnd.current) outer.scrollTop = outer.scrollHeight;
      // The position after content shrank, which is not scrolling either.
      lastTop = outer.scrollTop;
    };
    outer.addEventListener('scroll', look, { passive: true });
    // For any growth: a word, a question to a person, a narrower window.
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
