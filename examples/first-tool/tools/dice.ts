import type { ToolHandler } from '@goondan/types';

const roll: ToolHandler = (_ctx, input) => {
  // The arguments were checked against the schema in goondan.yaml.
  const { sides } = input as { sides: number };
  const rolled = 1 + Math.floor(Math.random() * sides);
  return { rolled, text: `You rolled ${rolled}.` };
};

export const handlers = { roll };
