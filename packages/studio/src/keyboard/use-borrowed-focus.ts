import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * For a part of the page that comes and goes: whoever was in it when it went is put back to what had the focus before it
 * came, or else to what `otherwise` selects.
 */
export function useBorrowedFocus<Part extends HTMLElement>(otherwise: string): RefObject<Part | null> {
  const part = useRef<Part>(null);
  const selector = useRef(otherwise);
  selector.current = otherwise;
  useLayoutEffect(() => {
    const { current } = part;
    const before = document.activeElement;
    return () => {
      if (current?.contains(document.activeElement) !== true) return;
      // When it is gone: what is focused now goes with it.
      queueMicrotask(() => {
        const back = before instanceof HTMLElement && before !== document.body && before.isConnected ? before : null;
        (back ?? document.querySelector<HTMLElement>(selector.current))?.focus();
      });
    };
  }, []);
  return part;
}
