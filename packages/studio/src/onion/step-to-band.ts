import type { Band } from './bands.ts';

/** Where an arrow key leads: up and down the list, left to what holds a band, right to what it holds. */
export function stepToBand(bands: readonly Band[], from: string, key: string): Band | undefined {
  const place = bands.findIndex(({ id }) => id === from);
  switch (key) {
    case 'ArrowDown':
      return bands[place + 1];
    case 'ArrowUp':
      return bands[place - 1];
    case 'ArrowRight':
      return bands[place]?.inside[0];
    case 'ArrowLeft':
      return bands.find(({ inside }) => inside.some(({ id }) => id === from));
    case 'Home':
      return bands[0];
    case 'End':
      return bands.at(-1);
    default:
      return undefined;
  }
}
