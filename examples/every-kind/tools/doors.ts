import type { ToolHandler } from '@goondan/types';

const states = { front: 'locked', back: 'open' };

const check: ToolHandler = (_ctx, input) => {
  // The arguments were checked against the schema in tool.yaml.
  const { door } = input as { door: keyof typeof states };
  return { door, state: states[door] };
};

export const handlers = { check };
