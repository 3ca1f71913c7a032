import { type RefObject, useEffect, useRef } from 'react';

interface StickyBox {
  /** What scrolls. */
  readonly box: RefObject<HTMLDivElement | null>;
  /** What is in it, and grows. */
  readonly content: RefObject<HTMLDivElement | null>;
}

/** Whoever reads the newest goes on reading the newest; whoever looked up stays where he is. */
export function useStickToEnd(isOn: boolean): StickyBox {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    const { current: outer } = box;
    const { current: inner } = content;
    if (outer === null || inner === null || !isOn) return;
    const look = () => {
      isAtEnd.current = outer.scrollHeight - outer.scrollTop - outer.clientHeight < 60;
    };
    const stick = () => {
      if (isAtEnd.current) outer.scrollTop = outer.scrollHeight;
    };
    outer.addEventListener('scroll', look, { passive: true });
    // Whatever makes it grow: a word, a picture of an error that is read later, a window made narrower.
    const watcher = new ResizeObserver(stick);
    watcher.observe(inner);
    watcher.observe(outer);
    return () => {
      outer.removeEventListener('scroll', look);
      watcher.disconnect();
    };
  }, [isOn]);
  return { box, content };
}
