import { describe, expect, test } from 'bun:test';
import { createUserMessage, type Message, type MessageEvent } from '@goondan/types';
import fc from 'fast-check';
import type { EventAuthor, StepRecord, TurnRecord } from './conversation-store.ts';
import { until } from '../../../../../test/until.ts';
import { fold } from '../../testing/fold.ts';
import { readTurnLog, TurnLogWriter } from './turn-log.ts';

const eventOf = (id: string): MessageEvent => ({
  type: 'append',
  message: createUserMessage(id, {}, { id, createdAt: new Date(0) }),
});
const says = (id: string, author: EventAuthor = { kind: 'extension', name: 'x' }): TurnRecord => ({
  type: 'message',
  event: eventOf(id),
  author,
});
const input = says('input', { kind: 'input' });
const again = says('input', { kind: 'input', again: true });
const truncate: TurnRecord = { type: 'message', event: { type: 'truncate' }, author: { kind: 'extension', name: 'x' } };
const entered: TurnRecord = { type: 'entered', metadata: { at: 'entered' }, extensionState: { x: 0 } };
const resumed: TurnRecord = { type: 'resumed' };
const step = (stepIndex: number, outcome: StepRecord['outcome']): StepRecord => ({
  type: 'step',
  stepId: `step-${stepIndex}`,
  stepIndex,
  outcome,
  toolResults: [],
  metadata: { at: stepIndex },
  extensionState: { x: stepIndex },
});

const macrotask = () => new Promise((resolve) => void setImmediate(resolve));

/** Returns the ids of the messages whose events count. */
const counts = (...records: TurnRecord[]) =>
  fold([], readTurnLog(records).events)
    .map(({ id }) => id)
    .join(' ');

describe('reading the records of an interrupted turn', () => {
  test('an input that comes back counts like the truncate before it', () => {
    expect(readTurnLog([input, says('a'), truncate, again]).events).toHaveLength(1);
    expect(readTurnLog([input, says('a'), truncate, again, entered]).events).toHaveLength(4);
  });

  test.each<[what: string, records: TurnRecord[], counting: string]>([
    ['nothing was recorded', [], ''],
    ['the input counts at once', [input], 'input'],
    ['an event of a turn layer counts once the steps were entered', [input, says('a'), entered], 'input a'],
    ['an event of a turn layer does not count before that', [input, says('a')], 'input'],
    ['an input comes back with its truncate', [input, says('a'), truncate, again, entered], 'input'],
    ['a completed step’s events count', [input, entered, says('a'), step(0, 'completed')], 'input a'],
    [
      'an unfinished step’s events do not count',
      [input, entered, says('a'), step(0, 'completed'), says('b')],
      'input a',
    ],
    [
      'a dropped step’s events never count',
      [input, entered, says('a'), step(0, 'dropped'), step(1, 'completed')],
      'input',
    ],
    [
      'a dropped step’s survivors count',
      [
        input,
        entered,
        says('a'),
        says('b'),
        says('c'),
        { ...step(0, 'dropped'), survivors: [1, 2] },
        says('d'),
        resumed,
      ],
      'input b c',
    ],
    ['a kept step’s events count', [input, entered, says('a'), step(0, 'kept')], 'input a'],
    [
      'a crash voids events that did not count yet',
      [input, entered, says('a'), resumed, says('b'), step(0, 'completed')],
      'input b',
    ],
    ['a crash before the steps voids the layers’ events', [input, says('a'), resumed, says('b'), entered], 'input b'],
    ['a crash voids nothing that counts', [input, says('a'), entered, resumed, resumed], 'input a'],
  ])('M-11 %s', (_what, records, counting) => {
    expect(counts(...records)).toBe(counting);
  });

  test('a process that ended while it waited for a person does not count as a crash; any other end does', () => {
    const asked: TurnRecord = { type: 'intent', key: 'k', kind: 'approval' };
    const answered: TurnRecord = { type: 'effect', key: 'k', kind: 'approval', outcome: { ok: true, value: {} } };
    const resumesOf = (...records: TurnRecord[]) => readTurnLog([input, entered, ...records]).resumes;
    expect(resumesOf(asked, resumed, says('a'), asked, resumed, asked)).toBe(0);
    expect(resumesOf(asked, resumed, resumed)).toBe(1);
    expect(resumesOf(asked, answered, resumed)).toBe(1);
    expect(resumesOf({ type: 'intent', key: 'k', kind: 'tool' }, resumed)).toBe(1);
  });

  test('the restore point is the state at the last sealing record', () => {
    expect(readTurnLog([input, says('a')]).restorePoint).toBeUndefined();
    expect(readTurnLog([input, entered, says('a')]).restorePoint?.metadata).toEqual({ at: 'entered' });
    const dropped = readTurnLog([input, entered, step(0, 'completed'), step(1, 'dropped'), says('a'), resumed]);
    expect(dropped.restorePoint).toMatchObject({ metadata: { at: 1 }, extensionState: { x: 1 } });
    expect(dropped.steps.map(({ outcome }) => outcome)).toEqual(['completed', 'dropped']);
  });

  test('effects and intents count from their record on, whatever happens to the step', () => {
    const log = readTurnLog([
      { type: 'intent', key: 'done', kind: 'tool' },
      { type: 'effect', key: 'done', kind: 'tool', outcome: { ok: true, value: 7 } },
      { type: 'intent', key: 'open', kind: 'tool' },
      step(0, 'dropped'),
      resumed,
    ]);
    expect([...log.effects]).toEqual([['done', { ok: true, value: 7 }]]);
    expect([...log.intents]).toEqual(['done', 'open']);
    expect([log.resumes, log.inputId]).toEqual([1, undefined]);
    expect(readTurnLog([input]).inputId).toBe('input');
  });

  test('M-11 after a crash at any record every sealed event counts once, in order, and no other event does', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(activity, fc.nat(6)), { maxLength: 12 }), fc.nat(60), (turn, crashAt) => {
        const { records, sealedAt } = runTurn(turn);
        // The process dies when this many records are durable. Later records are lost.
        const durable = records.slice(0, crashAt);
        const expected = sealedAt.filter(({ at }) => at < durable.length).map(({ id }) => id);
        expect(counts(...durable)).toBe(expected.join(' '));
        // The process crashes and resumes twice more. No event is lost, and none counts twice.
        expect(counts(...durable, resumed, says('lost'), resumed)).toBe(expected.join(' '));
      }),
      { numRuns: 500 },
    );
  });
});

type Activity = 'enter' | 'complete' | 'drop' | 'keep' | 'crash';
const activity = fc.constantFrom<Activity[]>('enter', 'complete', 'complete', 'drop', 'keep', 'crash');

/**
 * Runs a turn. Returns the records of its log, and for every event that counts the index of the record that seals it.
 */
function runTurn(turn: readonly (readonly [Activity, number])[]) {
  const records: TurnRecord[] = [input];
  const sealedAt = [{ id: 'input', at: 0 }];
  turn.forEach(([end, events], number) => {
    const said = Array.from({ length: events }, (_, each) => `${number}.${each}`);
    records.push(...said.map((id) => says(id)));
    const sealing = { enter: entered, complete: step(number, 'completed'), keep: step(number, 'kept') };
    const voiding = { drop: step(number, 'dropped'), crash: resumed };
    if (end === 'drop' || end === 'crash') return void records.push(voiding[end]);
    sealedAt.push(...said.map((id) => ({ id, at: records.length })));
    records.push(sealing[end]);
  });
  return { records, sealedAt };
}

describe('TurnLogWriter', () => {
  interface Appended {
    readonly at: number;
    readonly records: readonly TurnRecord[];
    readonly settle: PromiseWithResolvers<void>;
  }

  /** Creates a store that completes each append only when the test says so. */
  function slowStore(written = 0) {
    const appended: Appended[] = [];
    const writer = new TurnLogWriter(written, (at, records) => {
      const settle = Promise.withResolvers<void>();
      appended.push({ at, records, settle });
      return settle.promise;
    });
    return { appended, writer };
  }

  test('flush resolves only when everything written before it is durable', async () => {
    const { appended, writer } = slowStore();
    writer.write(says('a'));
    let flushed = false;
    const flush = writer.flush().then(() => void (flushed = true));
    await macrotask();
    expect([flushed, appended.length]).toEqual([false, 1]);
    appended[0]?.settle.resolve();
    await flush;
    expect(flushed).toBe(true);
  });

  test('takeRest gives the records that are not appended, and nothing appends them later', async () => {
    const { appended, writer } = slowStore(5);
    writer.write(says('a'));
    const flush = writer.flush();
    await until(() => appended.length === 1);
    writer.write(says('b'));
    writer.flushSoon();
    let isTaken = false;
    const taking = writer.takeRest().finally(() => void (isTaken = true));
    await macrotask();
    // The batch with `a` is still being appended.
    expect(isTaken).toBe(false);
    appended[0]?.settle.resolve();
    await flush;
    expect(await taking).toEqual({ at: 6, records: [says('b')] });
    await macrotask();
    expect(await writer.takeRest()).toEqual({ at: 7, records: [] });
    expect(appended.map(({ at }) => at)).toEqual([5]);
  });

  test('takeRest rejects after an append that failed', async () => {
    const writer = new TurnLogWriter(0, async () => {
      throw new Error('full');
    });
    writer.write(says('a'));
    writer.flushSoon();
    await macrotask();
    writer.write(says('b'));
    expect(await writer.takeRest().catch((error: unknown) => error)).toEqual(new Error('full'));
  });

  test('appends run one at a time; records written meanwhile go with the next append, at their own index', async () => {
    const { appended, writer } = slowStore(5);
    writer.write(says('a'));
    writer.write(says('b'));
    const first = writer.flush();
    await until(() => appended.length === 1);
    writer.write(says('c'));
    writer.flushSoon();
    writer.write(says('d'));
    const second = writer.flush();
    await macrotask();
    expect(appended).toHaveLength(1);
    appended[0]?.settle.resolve();
    await first;
    await until(() => appended.length === 2);
    appended[1]?.settle.resolve();
    await second;
    expect(appended.map(({ at, records }) => [at, records.length])).toEqual([
      [5, 2],
      [7, 2],
    ]);
    expect(appended.flatMap(({ records }) => records)).toEqual(['a', 'b', 'c', 'd'].map((id) => says(id)));
  });

  test('flush without new records waits for the running append and appends nothing', async () => {
    const { appended, writer } = slowStore();
    await writer.flush();
    expect(appended).toEqual([]);
    writer.write(says('a'));
    writer.flushSoon();
    await until(() => appended.length === 1);
    let flushed = false;
    const flush = writer.flush().then(() => void (flushed = true));
    await macrotask();
    expect(flushed).toBe(false);
    appended[0]?.settle.resolve();
    await flush;
    expect(appended).toHaveLength(1);
  });

  test('after a failure every flush rejects with the same error, and nothing more is appended', async () => {
    const { appended, writer } = slowStore();
    const diskFull = new Error('disk full');
    writer.write(says('a'));
    writer.flushSoon();
    await until(() => appended.length === 1);
    writer.write(says('b'));
    appended[0]?.settle.reject(diskFull);
    expect(await writer.flush().catch((error: unknown) => error)).toBe(diskFull);
    writer.write(says('c'));
    expect(await writer.flush().catch((error: unknown) => error)).toBe(diskFull);
    expect(appended).toHaveLength(1);
  });

  test('a log that is never flushed is appended by itself, so it does not grow without bound', async () => {
    const { appended, writer } = slowStore();
    for (let number = 0; number < 511; number++) writer.write(resumed);
    await macrotask();
    expect(appended).toHaveLength(0);
    writer.write(resumed);
    await until(() => appended.length === 1);
    expect(appended.map(({ records }) => records.length)).toEqual([512]);
  });

  test('M-11 for any writes and flushes, and any speed of the store, the log has every record once, in order', async () => {
    const burst = fc.record({ count: fc.nat(4), after: fc.constantFrom('flush', 'flushSoon', 'pause', 'nothing') });
    await fc.assert(
      fc.asyncProperty(fc.array(burst, { maxLength: 20 }), fc.infiniteStream(fc.boolean()), async (bursts, slow) => {
        const log: TurnRecord[] = [];
        const written: Message['id'][] = [];
        const writer = new TurnLogWriter(0, async (at, records) => {
          if (slow.next().value === true) await macrotask();
          expect(at).toBe(log.length);
          log.push(...records);
        });
        for (const { count, after } of bursts) {
          for (let number = 0; number < count; number++) {
            written.push(`${written.length}`);
            writer.write(says(`${written.length - 1}`));
          }
          if (after === 'flushSoon') writer.flushSoon();
          if (after === 'pause') await macrotask();
          if (after !== 'flush') continue;
          await writer.flush();
          expect(log).toHaveLength(written.length);
        }
        const rest = await writer.takeRest();
        expect(rest.at).toBe(log.length);
        expect([...log, ...rest.records]).toEqual(written.map((id) => says(id)));
      }),
      { numRuns: 200 },
    );
  });
});
