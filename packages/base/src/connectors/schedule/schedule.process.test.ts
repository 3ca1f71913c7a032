import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectorEvent, type EmitEvent, GoondanError } from '@goondan/types';
import { type RunningConnector, runConnector } from '../../testing/run-connector.ts';
import { startExample } from '../../testing/start-example.ts';
import { openEntries } from './open-entries.ts';
import { planDue } from './plan-due.ts';
import type { ScheduleConfig, ScheduleEntry } from './schedule-config.ts';
import { runSchedule, type ScheduleClock } from './schedule.ts';
import { until } from '../../../../../test/until.ts';

setDefaultTimeout(60_000);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const at = (text: string) => Date.parse(text);

/** A fake clock that advances only during waits, and stops at `end`. */
function playedClock(from: string, end: string) {
  const state = { now: at(from) };
  const over = Promise.withResolvers<void>();
  const clock: ScheduleClock = {
    now: () => state.now,
    async wait(ms) {
      state.now += ms;
      if (state.now < at(end)) return;
      over.resolve();
      await new Promise(() => undefined);
    },
  };
  return { clock, over: over.promise, state };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'schedule-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Lists all events that are emitted between two moments. */
async function play(
  config: ScheduleConfig,
  from: string,
  end: string,
  { folder = newFolder(), emit }: { folder?: string; emit?: EmitEvent } = {},
): Promise<RunningConnector> {
  const { clock, over } = playedClock(from, end);
  const running = await runConnector(
    // At the end of the simulated time the schedule stops abruptly, as after kill -9.
    (ctx) => Promise.race([runSchedule(ctx, clock), over]),
    { config, folder, ...(emit === undefined ? {} : { emit }) },
  );
  cleanups.push(() => running.stop());
  return running;
}

const idsOf = (events: readonly ConnectorEvent[]) => events.map(({ id }) => id?.replace(':00.000Z', ''));
const daily: ScheduleEntry = { name: 'daily', cron: '0 9 * * *' };

describe('a schedule', () => {
  test('emits an event when it is due, with its own id', async () => {
    const entry = { ...daily, input: 'It is {{time}}.', properties: { team: 'red', entry: 'mine' } };
    const { events } = await play(
      { entries: [entry], timeZone: 'Europe/Berlin' },
      '2026-06-01T00:00Z',
      '2026-06-03T12:00Z',
    );
    expect(idsOf(events)).toEqual(['daily@2026-06-01T07:00', 'daily@2026-06-02T07:00', 'daily@2026-06-03T07:00']);
    expect(events[0]).toEqual({
      name: 'tick',
      id: 'daily@2026-06-01T07:00:00.000Z',
      createdAt: new Date('2026-06-01T07:00Z'),
      input: 'It is 2026-06-01T07:00:00.000Z.',
      properties: { team: 'red', entry: 'daily' },
    });
  });

  test('has several entries, each in its own time zone', async () => {
    const entries: ScheduleEntry[] = [
      { name: 'tokyo', cron: '0 9 * * *', timeZone: 'Asia/Tokyo' },
      { name: 'home', cron: '30 0 * * *' },
      { name: 'often', every: '30m' },
    ];
    const { events } = await play({ entries }, '2026-06-01T00:00Z', '2026-06-01T01:01Z');
    expect(idsOf(events)).toEqual(['home@2026-06-01T00:30', 'often@2026-06-01T00:30', 'often@2026-06-01T01:00']);
    const tokyo = await play({ entries: entries.slice(0, 1) }, '2026-05-31T23:00Z', '2026-06-01T01:00Z');
    expect(idsOf(tokyo.events)).toEqual(['tokyo@2026-06-01T00:00']);
  });

  test('a restart never repeats and never skips a time: not before, at, or after it', async () => {
    const config = { entries: [daily] };
    for (const stop of ['2026-06-01T08:59Z', '2026-06-01T09:00Z', '2026-06-01T09:00:30Z', '2026-06-01T09:05Z']) {
      const folder = newFolder();
      const first = await play(config, '2026-06-01T08:00Z', stop, { folder });
      const second = await play(config, stop, '2026-06-01T10:00Z', { folder });
      expect([stop, ...new Set(idsOf([...first.events, ...second.events]))]).toEqual([stop, 'daily@2026-06-01T09:00']);
    }
  });

  test('a crash between the event and the record repeats the same id', async () => {
    const folder = newFolder();
    const config = { entries: [daily] };
    await play(config, '2026-06-01T08:00Z', '2026-06-01T08:59:30Z', { folder });
    const before = readFileSync(join(folder, 'schedule.json'), 'utf8');
    const first = await play(config, '2026-06-01T08:59:30Z', '2026-06-01T09:00:10Z', { folder });
    writeFileSync(join(folder, 'schedule.json'), before);
    const second = await play(config, '2026-06-01T09:00:20Z', '2026-06-01T10:00Z', { folder });
    expect(idsOf([...first.events, ...second.events])).toEqual(['daily@2026-06-01T09:00', 'daily@2026-06-01T09:00']);
  });

  test.each<[catchUp: ScheduleConfig['catchUp'], late: string[]]>([
    [undefined, ['10:01:20']],
    ['last', ['10:01:20']],
    ['all', ['10:00:20', '10:00:40', '10:01:00', '10:01:20']],
  ])('after a restart, a schedule of every 20 seconds with catchUp %p emits %j late', async (catchUp, late) => {
    const folder = newFolder();
    const entries = [{ name: 'often', every: '20s' }];
    const config = { entries, ...(catchUp === undefined ? {} : { catchUp }) };
    await play(config, '2026-06-01T09:59:50Z', '2026-06-01T10:00:10Z', { folder });
    const { events, lines } = await play(config, '2026-06-01T10:01:25Z', '2026-06-01T10:01:55Z', { folder });
    expect(events.map(({ id }) => id?.slice(-13, -5))).toEqual([...late, '10:01:40']);
    expect(lines.filter((line) => line.includes('were missed'))).toHaveLength(catchUp === undefined ? 1 : 0);
  });

  test('with catchUp all, a month of missed times comes in rounds, and a full inbox delays it', async () => {
    const folder = newFolder();
    const config = { entries: [{ name: 'often', every: '1h' }], catchUp: 'all' } as const;
    await play(config, '2026-05-01T10:00Z', '2026-05-01T10:05Z', { folder });
    let refused = 0;
    const busy: EmitEvent = async () => {
      if ((refused += 1) % 100 === 50) throw new GoondanError('E_INBOX_FULL', 'full', { retryable: true });
    };
    const { events } = await play(config, '2026-06-01T10:01Z', '2026-06-01T12:30Z', { folder, emit: busy });
    expect([events.length, new Set(idsOf(events)).size]).toEqual([31 * 24 + 2, 31 * 24 + 2]);
  });

  test('nothing is missed at its first start, with another rule, or with a broken record', async () => {
    const folder = newFolder();
    const config = { entries: [daily], catchUp: 'last' } as const;
    await play(config, '2026-06-01T10:00Z', '2026-06-01T10:05Z', { folder });
    const changed = { ...config, entries: [{ ...daily, cron: '0 8 * * *' }] };
    expect((await play(changed, '2026-06-04T20:00Z', '2026-06-04T21:00Z', { folder })).events).toEqual([]);
    writeFileSync(join(folder, 'schedule.json'), '{"daily":');
    expect((await play(changed, '2026-06-08T20:00Z', '2026-06-08T21:00Z', { folder })).events).toEqual([]);
  });

  test('a machine that slept behaves like a restart', async () => {
    const { clock, over, state } = playedClock('2026-06-01T08:00Z', '2026-06-03T12:00Z');
    let isAsleep = false;
    const sleepy: ScheduleClock = {
      now: () => clock.now(),
      wait: async (ms, signal) => {
        await clock.wait(ms, signal);
        if (!isAsleep && state.now > at('2026-06-01T08:30Z')) state.now = at('2026-06-02T20:00Z');
        isAsleep ||= state.now > at('2026-06-02T00:00Z');
      },
    };
    const running = await runConnector((ctx) => Promise.race([runSchedule(ctx, sleepy), over]), {
      config: { entries: [daily], catchUp: 'last' as const },
      folder: newFolder(),
    });
    cleanups.push(() => running.stop());
    expect(idsOf(running.events)).toEqual(['daily@2026-06-02T09:00', 'daily@2026-06-03T09:00']);
  });

  test('an event that is refused for now is tried again, one that is refused for good is not', async () => {
    let tries = 0;
    const busy: EmitEvent = async () => {
      if ((tries += 1) < 4) throw new GoondanError('E_INBOX_FULL', 'full', { retryable: true });
    };
    const later = await play({ entries: [daily] }, '2026-06-01T08:59Z', '2026-06-01T10:00Z', { emit: busy });
    expect([tries, idsOf(later.events)]).toEqual([4, ['daily@2026-06-01T09:00']]);
    tries = 0;
    const never: EmitEvent = async () => {
      tries += 1;
      throw new GoondanError('E_INGRESS_RULE', 'no');
    };
    const { lines } = await play({ entries: [daily] }, '2026-06-01T08:59Z', '2026-06-01T10:00Z', { emit: never });
    expect(tries).toBe(1);
    expect(lines.join('\n')).toContain('E_INGRESS_RULE');
  });

  test('ends when it is stopped', async () => {
    const { clock } = playedClock('2026-06-01T08:00Z', '2026-06-01T08:00:01Z');
    const stopping = new AbortController();
    let isOver = false;
    const run = runConnector(
      (ctx) =>
        runSchedule(
          { ...ctx, signal: stopping.signal },
          {
            ...clock,
            wait: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
          },
        ),
      { config: { entries: [daily] }, folder: newFolder() },
    ).then(() => (isOver = true));
    await Bun.sleep(10);
    expect(isOver).toBe(false);
    stopping.abort();
    expect(await run).toBe(true);
  });
});

describe('a schedule refuses to start', () => {
  test.each<[entry: Partial<ScheduleEntry>, problem: string]>([
    [{}, 'The entry "x" of the schedule: it needs `cron` or `every`, and not both.'],
    [{ cron: '@daily', every: '1h' }, 'it needs `cron` or `every`, and not both'],
    [{ cron: '0 25 * * *' }, '"0 25 * * *" is no cron expression: the hour "25" is not between 0 and 23'],
    [{ cron: '@daily', timeZone: 'Mars/Olympus' }, 'there is no time zone "Mars/Olympus"'],
    [{ every: '0s' }, '"0s" is not a time such as 30s'],
    [{ every: '15' }, '"15" is not a time such as 30s'],
    [{ every: '1.5h' }, '"1.5h" is not a time such as 30s'],
    [{ every: '400d' }, '"400d" is not a time such as 30s'],
  ])('%j', (entry, problem) => {
    expect(() => openEntries({ entries: [{ name: 'x', ...entry }] })).toThrow(
      expect.objectContaining({ code: 'E_CONNECTOR_CONFIG', message: expect.stringContaining(problem) }),
    );
  });

  test('with two entries of one name', () => {
    expect(() => openEntries({ entries: [daily, daily] })).toThrow('another entry has this name');
  });
});

describe('the due times', () => {
  const [often] = openEntries({ entries: [{ name: 'often', every: '10s' }] });
  if (often === undefined) throw new Error('It is not there.');
  const now = at('2026-06-01T12:00Z');

  test('are the newest one of the last minute, and nothing older', () => {
    expect(planDue(often, now - 90_000, now)).toEqual({ times: [now], leftOutUntil: now - 1 });
    expect(planDue(often, now - 10_000, now)).toEqual({ times: [now] });
    expect(planDue(often, now, now)).toEqual({ times: [] });
  });

  test('include one of exactly a minute ago, and not one before that', () => {
    const [hourly] = openEntries({ entries: [{ name: 'hourly', every: '1h' }] });
    if (hourly === undefined) throw new Error('It is not there.');
    expect(planDue(hourly, now - 1, now + 60_000)).toEqual({ times: [now] });
    expect(planDue(hourly, now - 1, now + 60_001)).toEqual({ times: [], leftOutUntil: now });
  });

  test('are the newest of all with catchUp last, and every one with catchUp all, 100 in a round', () => {
    const handled = now - 5_000_000;
    expect(planDue({ ...often, catchUp: 'last' }, handled, now)).toEqual({ times: [now] });
    const { times } = planDue({ ...often, catchUp: 'all' }, handled, now);
    expect([times.length, times[0], times.at(-1)]).toEqual([100, handled + 10_000, handled + 1_000_000]);
    expect(planDue({ ...often, catchUp: 'all' }, now - 20_000, now)).toEqual({ times: [now - 10_000, now] });
  });

  test('are none while a clock that was set back catches up', () => {
    expect(planDue(often, now + 3_600_000, now).times).toEqual([]);
  });
});

describe('the example, in real processes', () => {
  test('ticks, each time once, also across a restart of its connector', async () => {
    const example = await startExample('schedule');
    cleanups.push(() => example.stop());
    const turns: string[] = [];
    await example.swarm.watch({ types: ['turn.ended'] }, (notice) => {
      if (notice.type === 'turn.ended') turns.push(notice.end.eventId);
    });
    await until(() => turns.length >= 2);
    const { pid } = (await example.swarm.status()).connections[0] ?? {};
    process.kill(pid ?? 0, 'SIGKILL');
    await until(() => turns.length >= 5);
    expect(new Set(turns).size).toBe(turns.length);
    expect(await example.swarm.instances()).toMatchObject([{ agent: 'clock', instanceKey: 'pulse' }]);
  });
});
