import { type RefObject, useEffect, useRef } from 'react';

interface StickyBox {
  /** What scrolls. */
  readonly box: RefObject<HTMLDivElement | null>;
  /** What is in it, and grows. */
  readonly content: RefObject<HTMLDivElement | null>;
}

/** So near, in pixels, is at the end. */
const NEAR = 60;

/** Whoever reads the end goes on reading the end; whoever looked up stays where he is, until another moment is shown. */
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
      // What is pushed down by something new was not scrolled away from.
      if (outer.scrollHeight - outer.scrollTop - outer.clientHeight < NEAR) isAtEnd.current = true;
      else if (isUp) isAtEnd.current = false;
    };
    const stick = () => {
      if (isAtEnd.current) outer.scrollTop = outer.scrollHeight;
      // Where it is after something shrank, which nobody scrolled to either.
      lastTop = outer.scrollTop;
    };
    outer.addEventListener('scroll', look, { passive: true });
    // Whatever makes it grow: a word, a question to a person, a window made narrower.
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
