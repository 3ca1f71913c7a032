/** Tools that take some time, so that inputs and kills come in the middle of a step. */
import type { ToolHandler } from '@goondan/types';

const pause = (ms: number): ToolHandler =>
  async function wait() {
    await new Promise((resolve) => void setTimeout(resolve, ms));
    return { waited: ms };
  };

export const handlers: Record<string, ToolHandler> = {
  short: pause(4),
  one: pause(12),
  two: pause(12),
  three: pause(12),
};
