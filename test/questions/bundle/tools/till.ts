import type { ToolHandler } from '@goondan/types';

const pay: ToolHandler = (_ctx, { euros }) => ({ paid: euros ?? '' });

export const handlers = { pay };
