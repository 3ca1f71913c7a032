import { expect, test } from 'bun:test';
import { defaultLimits } from '../limits.ts';
import { LogState } from '../records/log-state.ts';
import { firstCheckpoint } from '../records/metadata.ts';
import { SimulatedDisk } from '../simulation/simulated-disk.ts';
import { simulatedMachine } from '../simulation/simulated-machine.ts';
import { simpleEvent } from '../simulation/simulated-turn.ts';
import { planLetter } from './plan-letter.ts';

test('Y-08 the letters of taken events count for the limit of dead letters', () => {
  const state = new LogState(firstCheckpoint(0, '2026-01-01T00:00:00Z'));
  for (const id of ['a', 'b', 'c']) state.letters.set(id, { event: { id } });
  const limits = { ...defaultLimits, deadLetters: 4 };
  const place = { limits, warn: () => undefined, clock: simulatedMachine(SimulatedDisk.empty(), 1).clock };
  const plan = (taken: readonly string[]) =>
    planLetter(place, state, {
      event: simpleEvent('own'),
      taken: taken.map((id) => simpleEvent(id)),
      reason: 'crashed',
    });
  expect(plan([]).lettersRemoved).toBeUndefined();
  const { lettersRemoved, lettersOfTaken = [] } = plan(['first', 'second']);
  expect([lettersRemoved, lettersOfTaken.length]).toEqual([['a', 'b'], 2]);
});
