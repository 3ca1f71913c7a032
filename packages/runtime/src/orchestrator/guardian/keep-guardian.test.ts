import { describe, expect, test } from 'bun:test';
import { manualClock } from '../../testing/manual-clock.ts';
import { keepGuardian } from './keep-guardian.ts';
import { newTag, RUN_VARIABLE } from './process-tag.ts';
import type { Guardian } from './start-guardian.ts';

function openKeeper(startsFail: (attempt: number) => boolean = () => false) {
  const clock = manualClock();
  const guardians: (Guardian & { readonly said: string[]; die(): void })[] = [];
  const warnings: string[] = [];
  let attempts = 0;
  const start = async (): Promise<Guardian> => {
    attempts += 1;
    if (startsFail(attempts)) throw new Error('no');
    const gone = Promise.withResolvers<void>();
    const said: string[] = [];
    const guardian = {
      pid: guardians.length + 1,
      said,
      watch: (pid: number) => void said.push(`watch ${pid}`),
      forget: (pid: number) => void said.push(`forget ${pid}`),
      exited: gone.promise,
      die: () => gone.resolve(),
      async standDown() {
        gone.resolve();
        return { reason: 'stood-down', ended: [], left: [], method: 'tag' } as const;
      },
    };
    guardians.push(guardian);
    return guardian;
  };
  const options = { tag: newTag(RUN_VARIABLE), clock, warn: (message: string) => void warnings.push(message) };
  return { clock, guardians, warnings, attempts: () => attempts, kept: keepGuardian(options, start) };
}

describe('a kept guardian', () => {
  test('is replaced when it is gone, and the next one learns which groups to watch', async () => {
    const { kept, guardians, warnings, clock } = openKeeper();
    const guardian = await kept;
    guardian.watch(7);
    guardian.watch(8);
    guardian.forget(7);
    guardians[0]?.die();
    await clock.advance(0);
    expect(guardian.pid).toBe(2);
    expect(guardians[1]?.said).toEqual(['watch 8']);
    expect(warnings).toHaveLength(1);
    guardian.watch(9);
    expect(guardians[1]?.said).toEqual(['watch 8', 'watch 9']);
    expect(guardians[0]?.said).toEqual(['watch 7', 'watch 8', 'forget 7']);
  });

  test('is tried again until it starts', async () => {
    const { kept, guardians, attempts, clock } = openKeeper((attempt) => attempt === 2 || attempt === 3);
    await kept;
    guardians[0]?.die();
    await clock.advance(0);
    expect(attempts()).toBe(2);
    await clock.advance(1_000);
    expect(attempts()).toBe(3);
    await clock.advance(1_000);
    expect(guardians).toHaveLength(2);
  });

  test('is not replaced after it was stood down', async () => {
    const { kept, guardians, clock } = openKeeper();
    const guardian = await kept;
    expect(await guardian.standDown()).toMatchObject({ reason: 'stood-down' });
    await clock.advance(5_000);
    expect(guardians).toHaveLength(1);
  });

  test('must start the first time', async () => {
    const { kept } = openKeeper(() => true);
    expect(await kept.catch((error: unknown) => error)).toMatchObject({ message: 'no' });
  });
});
