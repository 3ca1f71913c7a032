import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { FailStop } from './fail-stop.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';

test('runs actions one after the other, in order', async () => {
  const serial = new FailStop('it');
  const seen: string[] = [];
  const action = (name: string) => async () => {
    seen.push(`${name} starts`);
    await Promise.resolve();
    seen.push(`${name} ends`);
  };
  await Promise.all([serial.run(action('a')), serial.run(action('b'))]);
  expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends']);
});

test('a rejection stops nothing', async () => {
  const serial = new FailStop('it');
  const refusal = new GoondanError('E_INBOX_FULL', 'full');
  expect(await rejectionOf(serial.run(() => Promise.reject(refusal)))).toBe(refusal);
  expect(await serial.run(async () => 'on')).toBe('on');
});

test('after a disk error nothing runs, not even waiting actions', async () => {
  const serial = new FailStop('it');
  let hasRun = false;
  const failing = serial.run(() => Promise.reject(new GoondanError('E_DISK_FULL', 'full')));
  const waiting = serial.run(async () => (hasRun = true));
  expect(await rejectionOf(failing)).toMatchObject({ code: 'E_DISK_FULL' });
  expect(await rejectionOf(waiting)).toMatchObject({ code: 'E_STORE_WRITE', cause: { code: 'E_DISK_FULL' } });
  expect(hasRun).toBe(false);
  expect(serial.failed).toBe(true);
});
