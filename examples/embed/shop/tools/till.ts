import type { ToolHandler } from '@goondan/types';

const sell: ToolHandler = (_ctx, input) => {
  // The arguments were checked against the schema in goondan.yaml.
  const { fruit, count } = input as { fruit: string; count: number };
  return `${count} ${fruit} sold.`;
};

export const handlers = { sell };
