import type { ExtensionStatus } from '@goondan/types';
import type { Mask } from './mask-secrets.ts';
import { shortenMasked } from './shorten-masked.ts';

const LONGEST_TEXT = 2_000;
const LONGEST_LINE = 500;
const MOST_LINES = 10;
const MOST_WITHHELD = 50;
const MOST_TOOLS = 1_024;

/** Masks the secrets of a status, and bounds each field. */
export function boundExtensionStatus(
  { state, target, problem, lines, lost, tools, withheld }: ExtensionStatus,
  mask: Mask,
): ExtensionStatus {
  const shorten = shortenMasked(mask);
  return {
    state,
    ...(target !== undefined && { target: shorten(target, LONGEST_TEXT) }),
    ...(problem !== undefined && { problem: shorten(problem, LONGEST_TEXT) }),
    ...(lines !== undefined && { lines: lines.slice(-MOST_LINES).map((line) => shorten(line, LONGEST_LINE)) }),
    ...(lost !== undefined && { lost }),
    ...(tools !== undefined && { tools: tools.slice(0, MOST_TOOLS) }),
    ...(withheld !== undefined && {
      withheld: withheld
        .slice(0, MOST_WITHHELD)
        .map((each) => ({ name: shorten(each.name, LONGEST_LINE), problem: shorten(each.problem, LONGEST_LINE) })),
    }),
  };
}
