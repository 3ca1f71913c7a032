import { describe, expect, test } from 'bun:test';
import { manualClock } from '../testing/index.ts';
import type { OtlpSpan } from './otlp.ts';
import type { PostOutcome } from './post-spans.ts';
import { exporterLimits, SpanExporter } from './span-exporter.ts';

const taken: PostOutcome = { type: 'taken', rejected: 0, why: '' };
const away: PostOutcome = { type: 'away', why: 'it is not there' };

/**
 * Creates an exporter whose requests get these responses in order; the last response is repeated. For `undefined`, the
 * collector never responds.
 */
function exporterWith(...answers: readonly (PostOutcome | undefined)[]) {
  const clock = manualClock();
  const posts: { readonly at: number; readonly spans: readonly string[] }[] = [];
  const said: string[] = [];
  const exporter = new SpanExporter({
    clock,
    random: () => 1,
    toBody: (spans) => JSON.stringify(spans),
    report: (level, message) => void said.push(`${level} ${message}`),
    async post(body, signal) {
      posts.push({ at: clock.elapsed(), spans: JSON.parse(body) as string[] });
      const answer = answers[Math.min(posts.length, answers.length) - 1];
      if (answer !== undefined) return answer;
      await new Promise((resolve) => {
        signal.addEventListener('abort', resolve, { once: true });
      });
      return { type: 'away', why: 'given up' };
    },
  });
  return { clock, posts, said, exporter, counts: () => posts.map(({ spans }) => spans.length) };
}

/** The cast is safe: these tests read only the name. */
const spansNamed = (count: number, name: string) =>
  Array.from({ length: count }, () => ({ name }) as unknown as OtlpSpan);
const source = (count = 1, name = 'span') => ({ count, spans: () => spansNamed(count, name) });

describe('spans', () => {
  test('are gathered and sent together', async () => {
    const { exporter, clock, posts, counts } = exporterWith(taken);
    for (let index = 0; index < 3; index++) exporter.add(source());
    await clock.advance(exporterLimits.gatherMs - 1);
    expect(posts).toEqual([]);
    await clock.advance(1);
    expect(counts()).toEqual([3]);
    exporter.add(source());
    await clock.advance(exporterLimits.gatherMs);
    expect(counts()).toEqual([3, 1]);
    expect(clock.pending).toBe(0);
  });

  test('are sent in posts of limited size, in order', async () => {
    const { exporter, clock, counts } = exporterWith(taken);
    for (let index = 0; index < 130; index++) exporter.add(source(10));
    await clock.advance(exporterLimits.gatherMs);
    expect(counts()).toEqual([512, 512, 276]);

    const large = exporterWith(taken);
    for (let index = 0; index < 5; index++) large.exporter.add(source(1, 'x'.repeat(600_000)));
    await large.clock.advance(exporterLimits.gatherMs);
    expect(large.counts()).toEqual([1, 1, 1, 1, 1]);

    // The fourth post gets no response, so that a loop of empty posts would end.
    const tooLarge = exporterWith(taken, taken, taken, undefined);
    for (const size of [1, exporterLimits.longestPost + 1, 1]) tooLarge.exporter.add(source(1, 'x'.repeat(size)));
    await tooLarge.clock.advance(exporterLimits.gatherMs);
    expect(tooLarge.counts()).toEqual([1, 1, 1]);
  });

  test('are serialised later, not when they are added; one that fails is dropped alone', async () => {
    const { exporter, clock, counts, said } = exporterWith(taken);
    let isAsked = false;
    exporter.add({
      count: 2,
      spans() {
        isAsked = true;
        throw new Error('cannot be said');
      },
    });
    exporter.add(source());
    expect(isAsked).toBe(false);
    await clock.advance(exporterLimits.gatherMs);
    expect([isAsked, counts(), exporter.dropped]).toEqual([true, [1], 2]);
    expect(said[0]).toContain('cannot be said');
  });
});

describe('while the collector is away', () => {
  test('a post is retried with growing delays, and its spans arrive when the collector is back', async () => {
    const { exporter, clock, posts, said } = exporterWith(away, away, away, taken);
    exporter.add(source());
    await clock.advance(20_000);
    expect(posts.map(({ at }) => at)).toEqual([500, 1_500, 3_500, 7_500]);
    expect([exporter.dropped, said]).toEqual([0, []]);
  });

  test('the delay in Retry-After is used', async () => {
    const { exporter, clock, posts } = exporterWith({ ...away, retryAfterMs: 9_000 }, taken);
    exporter.add(source());
    await clock.advance(20_000);
    expect(posts.map(({ at }) => at)).toEqual([500, 9_500]);
  });

  test('a post is given up within its limit, even with a longer Retry-After; this is reported once, and again after a recovery', async () => {
    const { exporter, clock, posts, said } = exporterWith(
      { ...away, retryAfterMs: 86_400_000 },
      away,
      away,
      away,
      away,
      away,
      away,
      taken,
    );
    exporter.add(source(3));
    await clock.advance(1_000);
    expect([posts.length, exporter.dropped]).toEqual([1, 3]);
    expect(said).toEqual([
      'warn Spans cannot be exported, and are dropped until the collector accepts them again (it is not there). Turns are not affected.',
    ]);
    exporter.add(source(4));
    await clock.advance(60_000);
    expect([exporter.dropped, said.length]).toEqual([7, 1]);
    exporter.add(source());
    await clock.advance(10_000);
    expect(said.slice(1)).toEqual(['info Spans are exported again; 7 spans were dropped.']);
    expect(clock.pending).toBe(0);
  });

  test('the number of waiting spans is limited; the newest are dropped and counted', async () => {
    const { exporter, clock, counts } = exporterWith(undefined);
    exporter.add(source());
    await clock.advance(exporterLimits.gatherMs);
    for (let index = 0; index < 5_000; index++) exporter.add(source());
    expect([exporter.dropped, counts()]).toEqual([5_000 - exporterLimits.mostWaiting, [1]]);
  });

  test('the data of a turn is not kept while the collector does not answer, and waiting spans have a limited size', async () => {
    const { exporter, clock } = exporterWith(undefined);
    exporter.add(source());
    await clock.advance(exporterLimits.gatherMs);
    let isAsked = false;
    exporter.add({
      count: 1,
      spans() {
        isAsked = true;
        return spansNamed(1, 'x'.repeat(10_000_000));
      },
    });
    await clock.advance(exporterLimits.gatherMs);
    expect([isAsked, exporter.dropped]).toEqual([true, 0]);
    exporter.add(source(1, 'y'.repeat(10_000_000)));
    exporter.add(source(1, 'z'));
    await clock.advance(exporterLimits.gatherMs);
    expect(exporter.dropped).toBe(1);
  });

  test('anything thrown on the way drops spans and fails no turn', async () => {
    const clock = manualClock();
    const exporter = new SpanExporter({
      clock,
      random: () => 1,
      toBody: () => '',
      report: () => undefined,
      post: () => Promise.reject(new Error('cannot be')),
    });
    exporter.add(source(2));
    await clock.advance(exporterLimits.gatherMs);
    exporter.add(source(3));
    await clock.advance(exporterLimits.gatherMs);
    expect(exporter.dropped).toBe(5);
  });

  test('a refusal is final, and so are spans that the collector rejects', async () => {
    const refused = exporterWith({ type: 'refused', why: 'it answers 400' });
    refused.exporter.add(source(2));
    await refused.clock.advance(60_000);
    expect([refused.posts.length, refused.exporter.dropped]).toEqual([1, 2]);

    const partly = exporterWith({ type: 'taken', rejected: 3, why: 'too old' });
    partly.exporter.add(source(5));
    await partly.clock.advance(60_000);
    expect([partly.posts.length, partly.exporter.dropped]).toEqual([1, 3]);
    expect(partly.said[0]).toContain('too old');
  });
});

describe('the end', () => {
  test('waiting spans are sent at once', async () => {
    const { exporter, clock, counts } = exporterWith(taken);
    exporter.add(source(2));
    const finished = exporter.finish(2_000);
    await clock.advance(0);
    await finished;
    expect([counts(), exporter.dropped, clock.pending]).toEqual([[2], 0, 0]);
  });

  test('a post that waits for a retry is tried once more at once', async () => {
    const { exporter, clock, posts, said } = exporterWith(away);
    exporter.add(source());
    await clock.advance(600);
    const finished = exporter.finish(2_000);
    await clock.advance(10);
    await finished;
    expect(posts.map(({ at }) => at)).toEqual([500, 600]);
    expect([exporter.dropped, said.at(-1)]).toEqual([1, 'warn 1 spans were not exported.']);
  });

  test('a collector that does not answer delays the end only up to the limit; later spans are dropped', async () => {
    const { exporter, clock, counts } = exporterWith(undefined);
    exporter.add(source(2));
    exporter.add(source(3));
    let isOver = false;
    const finished = exporter.finish(2_000).then(() => (isOver = true));
    await clock.advance(1_999);
    expect(isOver).toBe(false);
    await clock.advance(1);
    await finished;
    exporter.add(source(4));
    expect([counts(), exporter.dropped]).toEqual([[5], 9]);
    expect(clock.pending).toBe(0);
  });

  test('with nothing to send it ends at once, however often it is called', async () => {
    const { exporter, posts, said } = exporterWith(taken);
    await Promise.all([exporter.finish(2_000), exporter.finish(2_000)]);
    expect([posts, said]).toEqual([[], []]);
  });
});
