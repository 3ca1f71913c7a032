import { type RefObject, useLayoutEffect, useRef } from 'react';

/**
 * Restores the focus when a part of the page closes: to the element that had the focus before, or else to the element
 * that `otherwise` selects.
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
      // Waits until the part has been removed from the page, because the focused element is removed with it.
      queueMicrotask(() => {
        const back = before instanceof HTMLElement && before !== document.body && before.isConnected ? before : null;
        (back ?? document.querySelector<HTMLElement>(selector.current))?.focus();
      });
    };
  }, []);
  return part;
}
