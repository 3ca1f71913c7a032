import type { ToolHandler } from '@goondan/types';

export const handlers: Record<string, ToolHandler> = {
  async read() {
    await new Promise((resolve) => void setTimeout(resolve, 1_500));
    return { report: 'Sales went up.' };
  },
};
