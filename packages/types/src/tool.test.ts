import { expect, expectTypeOf, test } from 'bun:test';
import type { ToolCallError, ToolCallMiddlewareContext, ToolCallResult } from './index.ts';

const call = { toolCallId: 'call-1', toolName: 'dice__roll' };

test('a result with the status error has an error, for the type checker too', () => {
  const failed: ToolCallResult = { ...call, status: 'error', error: { message: 'no dice' } };
  const given: readonly ToolCallResult[] = [failed, { ...call, status: 'ok', output: 4 }, { ...call, status: 'ok' }];
  for (const result of given) {
    if (result.status === 'error') expectTypeOf(result.error).toEqualTypeOf<ToolCallError>();
    else expectTypeOf(result.error).toEqualTypeOf<undefined>();
  }
  // @ts-expect-error An error result needs an `error`.
  const silent: ToolCallResult = { ...call, status: 'error' };
  // @ts-expect-error A successful result has no `error`.
  const both: ToolCallResult = { ...call, status: 'ok', error: { message: 'no dice' } };
  expect([silent.error, both.status]).toEqual([undefined, 'ok']);
});

test('a layer may change the output of either', async () => {
  const layer = async (ctx: Pick<ToolCallMiddlewareContext, 'next'>): Promise<ToolCallResult> => ({
    ...(await ctx.next()),
    output: 'hidden',
  });
  const failed: ToolCallResult = { ...call, status: 'error', error: { message: 'no dice' } };
  expect(await layer({ next: () => Promise.resolve(failed) })).toEqual({ ...failed, output: 'hidden' });
});
