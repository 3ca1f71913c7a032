/** A tool that records every run, so that a test can count the runs. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolHandler } from '@goondan/types';

const put: ToolHandler = ({ workdir, toolCallId }, input) => {
  appendFileSync(join(workdir, 'runs.jsonl'), `${JSON.stringify({ toolCallId, input })}\n`);
  return { put: input['what'] ?? null };
};

const ask: ToolHandler = async (ctx, input) => {
  await put(ctx, input);
  const form = { type: 'object', properties: { shelf: { type: 'string' } }, required: ['shelf'] };
  const { content } = await ctx.person.ask({ reason: 'Which shelf?', form });
  return { put: content?.['shelf'] ?? null };
};

export const handlers: Record<string, ToolHandler> = { put, ask, look: () => ({ shelf: 'full' }) };
