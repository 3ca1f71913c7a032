import type { AgentView } from '@goondan/cli/studio';
import { counted } from './counted.ts';

/**
 * Formats counts, such as `5 tools · 2 layers`. Leaves out counts of 0, because the parts of an agent that never
 * started are unknown.
 */
export function describeParts({ tools, layers }: Pick<AgentView, 'tools' | 'layers'>): readonly string[] {
  return [
    ...(tools.length === 0 ? [] : [counted(tools.length, 'tool')]),
    ...(layers.length === 0 ? [] : [counted(layers.length, 'layer')]),
  ];
}
