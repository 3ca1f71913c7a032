/** Draws the timeline on a canvas instead of with elements, so that ten thousand events are as fast as ten. */
import type { TimelineView } from '@goondan/cli/studio';
import { useEffect, useRef, useState } from 'react';
import { type Author, tapeColumns } from './tape-columns.ts';

/** The height of a column by author, if each column shows one event. Otherwise all columns have the full height. */
const heights: Readonly<Record<Author, number>> = { i: 1, m: 0.75, t: 0.55, e: 0.55, r: 0.3 };

export function Tape({
  timeline,
  value,
  openTurn,
}: {
  readonly timeline: TimelineView;
  readonly value: number;
  readonly openTurn: string | undefined;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const size = useSize(canvas);
  useEffect(() => {
    const { current } = canvas;
    if (current === null || size === undefined) return;
    const again = () => draw(current, size, timeline, value, openTurn);
    again();
    // Redraws when the theme changes, because the colours change with it.
    const theme = new MutationObserver(again);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => theme.disconnect();
  }, [size, timeline, value, openTurn]);
  return <canvas ref={canvas} className="tape" aria-hidden="true" />;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function draw(
  canvas: HTMLCanvasElement,
  { width, height }: Size,
  timeline: TimelineView,
  value: number,
  openTurn?: string,
) {
  const scale = window.devicePixelRatio;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const context = canvas.getContext('2d');
  if (context === null) return;
  context.scale(scale, scale);
  const colors = getComputedStyle(canvas);
  // Reads the colour through an element, which has the colour of the current theme. The property itself contains the
  // colours of both themes.
  const paint = (name: string) => {
    canvas.style.color = `var(--${name})`;
    return colors.color;
  };
  // Reads each colour once and not for every column, because reading a colour is slow.
  const paints = {
    i: paint('author-i'),
    m: paint('author-m'),
    t: paint('author-t'),
    e: paint('author-e'),
    r: paint('author-r'),
  };
  const { authors, from, last, first, turns } = timeline;
  // The mark is at the same position as the slider: at the right edge of the event after which the conversation is
  // shown.
  const perEvent = width / Math.max(1, last - first + 1);
  const leftOf = (seq: number) => (seq - first) * perEvent;

  const open = turns.find(({ turnId }) => turnId === openTurn);
  if (open !== undefined) {
    context.fillStyle = paint('tape-open');
    context.fillRect(leftOf(open.from), 0, Math.max(2, leftOf(open.to + 1) - leftOf(open.from)), height);
  }
  const columns = tapeColumns(authors, (authors.length * perEvent) / 3);
  const columnWidth = (authors.length * perEvent) / Math.max(1, columns.length);
  const isOneEach = columns.length === authors.length;
  const wide = Math.max(1, Math.min(columnWidth - 1, 14));
  columns.forEach((column, index) => {
    const left = leftOf(from) + index * columnWidth;
    const isAfter = left >= leftOf(value + 1) - 0.01;
    context.globalAlpha = isAfter ? 0.25 : 1;
    const tall = (height - 8) * (isOneEach && column[0] !== undefined ? heights[column[0].author] : 1);
    let top = (height - tall) / 2;
    for (const { author, share } of column) {
      context.fillStyle = paints[author];
      context.fillRect(left + (columnWidth - wide) / 2, top, wide, tall * share);
      top += tall * share;
    }
  });
  context.globalAlpha = 1;
}

function useSize(canvas: { readonly current: HTMLCanvasElement | null }): Size | undefined {
  const [size, setSize] = useState<Size>();
  useEffect(() => {
    if (canvas.current === null) return;
    const watcher = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setSize({ width: entry.contentRect.width, height: entry.contentRect.height });
    });
    watcher.observe(canvas.current);
    return () => watcher.disconnect();
  }, [canvas]);
  return size;
}
