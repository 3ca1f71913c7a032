import type { ToolHandler } from '@goondan/types';

export const handlers: Record<string, ToolHandler> = {
  price: () => ({ euros: 3 }),
  buy: (_, { apples }) => ({ sold: apples ?? 0 }),
};
