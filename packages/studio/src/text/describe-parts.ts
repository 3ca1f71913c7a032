import type { AgentView } from '@goondan/cli/studio';
import { counted } from './counted.ts';

/** `5 tools · 2 layers`. What there is none of is not said: of an agent that never started nothing may be known. */
export function describeParts({ tools, layers }: Pick<AgentView, 'tools' | 'layers'>): readonly string[] {
  return [
    ...(tools.length === 0 ? [] : [counted(tools.length, 'tool')]),
    ...(layers.length === 0 ? [] : [counted(layers.length, 'layer')]),
  ];
}
