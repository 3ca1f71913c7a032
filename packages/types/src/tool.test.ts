import { expect, expectTypeOf, test } from 'bun:test';
import type { ToolCallError, ToolCallMiddlewareContext, ToolCallResult } from './index.ts';

const call = { toolCallId: 'call-1', toolName: 'dice__roll' };

test('C-08 the error is optional for both statuses, and has only a message that is required', () => {
  const given: readonly ToolCallResult[] = [
    { ...call, status: 'error', error: { message: 'no dice' } },
    { ...call, status: 'error' },
    { ...call, status: 'ok', output: 4 },
    { ...call, status: 'ok', error: { name: 'Note', message: 'old', code: 'E', suggestion: 'Roll.', helpUrl: 'a' } },
  ];
  for (const { error } of given) expectTypeOf(error).toEqualTypeOf<ToolCallError | undefined>();
  // @ts-expect-error An error has a message.
  expect<ToolCallError>({ code: 'E_DICE' }).toBeDefined();
});

test('a layer may change the output of either', async () => {
  const layer = async (ctx: Pick<ToolCallMiddlewareContext, 'next'>): Promise<ToolCallResult> => ({
    ...(await ctx.next()),
    output: 'hidden',
  });
  const failed: ToolCallResult = { ...call, status: 'error', error: { message: 'no dice' } };
  expect(await layer({ next: () => Promise.resolve(failed) })).toEqual({ ...failed, output: 'hidden' });
});
