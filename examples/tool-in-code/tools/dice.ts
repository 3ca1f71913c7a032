import { defineTool } from '@goondan/types';
import { z } from 'zod';

export const roll = defineTool({
  description: 'Rolls dice.',
  parameters: z.object({
    sides: z.int().min(2).max(100),
    count: z.int().min(1).max(10).default(1),
  }),
  effects: 'none',
  // The types of `sides` and `count` follow from the schema; `count` has its default.
  run: (_ctx, { sides, count }) => {
    const rolled = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides));
    return { rolled, text: `You rolled ${rolled.join(' and ')}.` };
  },
});
