import { expect, test } from 'bun:test';
import type { Acceptance, Swarm } from '@goondan/runtime';
import { type ErrorCode, GoondanError } from '@goondan/types';
import { askForReport } from './ask-for-report.ts';

const acceptance: Acceptance = {
  accepted: true,
  duplicate: false,
  eventId: 'e',
  turnId: 'turn-e',
  traceId: 't',
  agent: 'host',
  instanceKey: 'default',
};

/** Asks a swarm that accepts the input and then fails before the turn begins. */
async function fateAfter(code: ErrorCode, { isCancelled = true, duplicate = false, suggestion = 'Do.' } = {}) {
  const cancelled: string[] = [];
  // Safe: asking uses nothing else of a swarm.
  const swarm = {
    ask: async (_delivery: unknown, { onAccepted }: { onAccepted: (accepted: Acceptance) => void }) => {
      onAccepted({ ...acceptance, duplicate });
      throw new GoondanError(code, 'No.', { suggestion });
    },
    cancel: async ({ eventId }: { eventId: string }) => {
      cancelled.push(eventId);
      return isCancelled;
    },
  } as unknown as Pick<Swarm, 'ask' | 'cancel'>;
  const { input, error } = await askForReport(swarm, { input: 'Hello' }, { withdraws: true });
  return { input, cancelled, advice: error?.suggestion?.split(' The input')[0] };
}

test.each([
  ['Set `KEY`', 'Set `KEY`.'],
  ['설치하세요', '설치하세요.'],
  ['Set it!', 'Set it!'],
  ['Set it (see "docs.")', 'Set it (see "docs.")'],
])('the advice "%s" ends before the fate of the input begins', async (suggestion, advice) => {
  expect((await fateAfter('E_EXT_INIT', { suggestion })).advice).toBe(advice);
});

test('an input whose agent does not start is withdrawn; it stays queued if that fails', async () => {
  expect(await fateAfter('E_EXT_INIT')).toMatchObject({ input: 'withdrawn', cancelled: ['e'] });
  expect(await fateAfter('E_EXT_INIT', { isCancelled: false })).toMatchObject({ input: 'queued', cancelled: ['e'] });
});

test('an input that another swarm has accepted is not withdrawn, because its turn may have begun there', async () => {
  expect(await fateAfter('E_EXT_INIT', { duplicate: true })).toMatchObject({ input: 'queued', cancelled: [] });
});

test.each<ErrorCode>(['E_SWARM_STOPPED', 'E_CONTROL_CLOSED', 'E_CANCELLED'])(
  'an input is not withdrawn after %s, which says itself what becomes of it',
  async (code) => {
    expect(await fateAfter(code)).toMatchObject({ input: undefined, cancelled: [] });
  },
);
