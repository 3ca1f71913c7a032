import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const palettes = readPalettes(readFileSync(join(import.meta.dir, 'colors.css'), 'utf8'));

describe('the colours of the page', () => {
  test('are all read', () => {
    for (const palette of palettes) expect(Object.keys(palette).length).toBeGreaterThan(20);
  });

  const grounds = ['ground', 'panel', 'raised', 'sunken'];
  const pairs = [
    ...['ink', 'ink-soft', 'ink-quiet'].flatMap((ink) => grounds.map((ground) => [ink, ground])),
    ...['bad', 'wait', 'added', 'removed'].map((ink) => [ink, `${ink}-wash`]),
    ['bad', 'panel'],
    ['wait', 'panel'],
    ['wait', 'ground'],
    ['accent-ink', 'accent'],
    ['ink', 'accent-wash'],
    ['ink-quiet', 'wait-wash'],
    ['ink-soft', 'bad-wash'],
    ...['turn', 'step', 'model', 'toolCall', 'author-e'].map((ink) => [ink, 'panel']),
  ];
  test.each(pairs)('%s is readable on %s, light and dark', (ink, ground) => {
    for (const palette of palettes) {
      expect(contrast(palette[ink ?? ''] ?? '', palette[ground ?? ''] ?? '')).toBeGreaterThanOrEqual(4.5);
    }
  });

  const onion = readFileSync(join(import.meta.dir, 'onion.css'), 'utf8');
  const [ofBand = 0, ofChosen = 0] = ['var\\(--panel\\)', 'transparent\\);\\n}\\n\\n\\.band-head:hover'].map((ground) =>
    Number(new RegExp(`background: color-mix\\(in srgb, var\\(--tone\\) (\\d+)%, ${ground}`).exec(onion)?.[1]),
  );
  test.each(['turn', 'step', 'model', 'toolCall'])('a band of a %s is readable, also when chosen', (tone) => {
    for (const palette of palettes) {
      const band = mix(palette[tone] ?? '', palette['panel'] ?? '', ofBand);
      const chosen = mix(palette[tone] ?? '', band, ofChosen);
      expect(contrast(palette['ink-quiet'] ?? '', band)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(palette['ink-soft'] ?? '', chosen)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(palette[tone] ?? '', band)).toBeGreaterThanOrEqual(4.5);
      expect(contrast(mix(palette[tone] ?? '', palette['ink'] ?? '', 75), chosen)).toBeGreaterThanOrEqual(4.5);
    }
  });
});

/** Mixes two colours as CSS does with `color-mix`. */
function mix(one: string, other: string, percent: number): string {
  const parts = [1, 3, 5].map((from) => {
    const [first = 0, second = 0] = [one, other].map((color) => Number.parseInt(color.slice(from, from + 2), 16));
    return Math.round((first * percent + second * (100 - percent)) / 100)
      .toString(16)
      .padStart(2, '0');
  });
  return `#${parts.join('')}`;
}

/** Returns the light and the dark palette. */
function readPalettes(css: string): Record<string, string>[] {
  const colors = [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)];
  return [2, 3].map((at) => Object.fromEntries(colors.map((match) => [match[1] ?? '', match[at] ?? ''])));
}

/** Returns the contrast as WCAG 2 defines it. A text needs at least 4.5. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((from) => {
    const part = Number.parseInt(color.slice(from, from + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
