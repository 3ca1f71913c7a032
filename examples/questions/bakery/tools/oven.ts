import type { ToolHandler } from '@goondan/types';

export const handlers: Record<string, ToolHandler> = {
  async order(ctx) {
    const { outcome, content } = await ctx.person.ask({
      reason: 'Which cake shall it be?',
      form: {
        type: 'object',
        properties: {
          cake: { type: 'string', title: 'Cake', enum: ['lemon', 'chocolate'] },
          candles: { type: 'integer', minimum: 0, maximum: 99, default: 0 },
        },
        required: ['cake'],
      },
    });
    return outcome === 'answered' ? { cake: content?.['cake'] ?? null } : { declined: 'nothing' };
  },
  bake(_, args) {
    // Safe: the arguments fit the schema in goondan.yaml.
    const { cake, number } = args as { cake: string; number: number };
    return `${number} ${cake}`;
  },
};
