import type { AgentView } from '@goondan/cli/studio';
import { counted } from './counted.ts';

/** Writes `5 tools · 2 layers`. Counts of 0 are left out: nothing may be known of an agent that never started. */
export function describeParts({ tools, layers }: Pick<AgentView, 'tools' | 'layers'>): readonly string[] {
  return [
    ...(tools.length === 0 ? [] : [counted(tools.length, 'tool')]),
    ...(layers.length === 0 ? [] : [counted(layers.length, 'layer')]),
  ];
}
