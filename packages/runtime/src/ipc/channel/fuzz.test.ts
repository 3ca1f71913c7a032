// Tests malformed frames: whatever the bytes are, each frame becomes a message, or a rejection with a code that ends the
// channel, and none hangs.
import { describe, expect, test } from 'bun:test';
import { isErrorCode } from '@goondan/types';
import fc from 'fast-check';
import { anyText } from '../../../../../test/any-text.ts';
import { samples } from '../../../../../test/samples.ts';
import { usedMs } from '../../../../../test/used-ms.ts';
import { agentLanguage, type Codec, connectorLanguage, keeperLanguage } from '../codec.ts';
import { Channel } from './channel.ts';
import { memoryFrameFiles } from '../../testing/memory-frame-files.ts';
import type { WireEvents } from './wire.ts';

const [ping, pong] = ['{"type":"ping","n":1}', '{"type":"pong","n":1}'];

/** The receivers, each with a frame that it understands. */
const receivers = [
  ['the orchestrator, from an agent', pong, (bytes, cuts) => receive(agentLanguage.parent, bytes, cuts)],
  ['an agent', ping, (bytes, cuts) => receive(agentLanguage.child, bytes, cuts)],
  ['the orchestrator, from a connector', pong, (bytes, cuts) => receive(connectorLanguage.parent, bytes, cuts)],
  ['a connector', ping, (bytes, cuts) => receive(connectorLanguage.child, bytes, cuts)],
  ['the orchestrator, from a keeper', pong, (bytes, cuts) => receive(keeperLanguage.parent, bytes, cuts)],
  ['a keeper', ping, (bytes, cuts) => receive(keeperLanguage.child, bytes, cuts)],
] satisfies [string, string, (bytes: Uint8Array, cuts: readonly number[]) => Seen][];

const soundFrames = [
  '{"type":"turn.done","eventId":"e","result":{"turnId":"t","finishReason":"text_response","responseMessage":{"id":"m","data":{"role":"assistant","content":[{"type":"text","text":"Hi"}]},"metadata":{},"createdAt":"2026-03-04T05:06:07.089Z","source":{"type":"assistant","stepId":"s"}}},"stepCount":1,"usage":{"inputTokens":1,"outputTokens":2,"totalTokens":3}}',
  '{"type":"call","callId":"c","kind":"request","to":{"agentName":"a","instanceKey":"k"},"event":{"id":"e","type":"t","instanceKey":"k","source":{"kind":"agent","name":"a"},"traceId":"t","createdAt":"2026-03-04T05:06:07.089Z","metadata":{"a":[1,2]}},"timeoutMs":1}',
  '{"type":"ready","extensions":["x"],"layers":[{"kind":"turn","extension":"x","name":"x","tier":"agent","priority":0,"mayShortCircuit":false,"onError":"fail","buffers":false}],"tools":[]}',
  '{"type":"delta","eventId":"e","delta":{"type":"text","text":"x","turnId":"t","stepId":"s","stepIndex":0}}',
  '{"type":"start","plan":{"models":{}}}',
  '{"type":"connector.event","id":"e","event":{"name":"n","properties":{},"createdAt":"2026-03-04T05:06:07.089Z"}}',
  '{"type":"connector.refused","id":"e","error":{"code":"E_INBOX_FULL","message":""}}',
  '{"file":"01234567-89ab-cdef-0123-456789abcdef.json"}',
];

/** Values that have broken parsers before. */
const nasty = fc.constantFrom<unknown>(
  null,
  -1,
  1e308,
  0.5,
  true,
  '',
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  [],
  [[]],
  {},
  { constructor: { name: { toString: 1 } } },
  { toString: 1, valueOf: 1 },
  { length: 1e9 },
  'x'.repeat(5_000),
  '2026-99-99T99:99:99Z',
);

/** Generates a sample with one value removed or replaced. */
const twisted = fc
  .tuple(fc.constantFrom(...soundFrames), fc.nat(), nasty, fc.boolean())
  .map(([sample, at, value, remove]) => {
    let position = 0;
    const count = [...sample.matchAll(/[,{[]/g)].length;
    return (
      JSON.stringify(
        JSON.parse(sample, (_, each: unknown) =>
          position++ === at % (count + 1) ? (remove ? undefined : value) : each,
        ),
      ) ?? 'null'
    );
  });

/** Generates a sample with some of its bytes changed, doubled or removed. */
const damaged = fc
  .tuple(
    fc.constantFrom(...soundFrames),
    fc.array(fc.tuple(fc.nat(), fc.nat(255), fc.constantFrom(0, 1, 2)), { minLength: 1, maxLength: 8 }),
  )
  .map(([sample, changes]) => {
    const bytes = [...Buffer.from(sample)];
    for (const [at, byte, gone] of changes) bytes.splice(at % bytes.length, gone, byte);
    return Buffer.from(bytes);
  });

const frames: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 4, arbitrary: twisted },
  { weight: 4, arbitrary: damaged },
  { weight: 1, arbitrary: fc.json({ maxDepth: 5 }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
  { weight: 1, arbitrary: anyText() },
  {
    weight: 1,
    arbitrary: fc.nat(3_000).map((depth) => `{"type":"start","plan":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`),
  },
);

const RUNS = Math.max(300, samples(1_500));

describe('a channel with malformed frames', () => {
  test.each(receivers)(
    'rejects or delivers each, and ends with the first that it rejects: %s',
    (_, good, receiveBytes) => {
      let refused = 0;
      fc.assert(
        fc.property(frames, fc.array(fc.nat(300), { maxLength: 3 }), (frame, cuts) => {
          const bytes = Buffer.concat([Buffer.from(`${good}\n`), Buffer.from(frame), Buffer.from(`\n${good}\n`)]);
          const { types, codes, isClosed, usedMs: used } = receiveBytes(bytes, cuts);
          refused += codes.length;
          expect(codes.filter((code) => !/^E_IPC_(?:FRAME|SIZE)$/.test(code) || !isErrorCode(code))).toEqual([]);
          const lines = bytes.toString('latin1').split('\n').length - 1;
          expect(codes).toHaveLength(isClosed ? 1 : 0);
          expect(types.length).toBeGreaterThan(0);
          if (isClosed) expect(types.length).toBeLessThan(lines);
          else expect(types).toHaveLength(lines);
          expect(used).toBeLessThan(1_000);
        }),
        { numRuns: RUNS },
      );
      // Many must be rejected; otherwise the test proves nothing.
      expect(refused).toBeGreaterThan(RUNS / 2);
    },
  );
});

interface Seen {
  readonly types: readonly string[];
  readonly codes: readonly string[];
  readonly isClosed: boolean;
  readonly usedMs: number;
}

/** Returns the messages and rejections for these bytes. The bytes arrive in pieces of any size. */
function receive<Out, In extends { readonly type: string }>(
  codec: Codec<Out, In>,
  bytes: Uint8Array,
  cuts: readonly number[],
): Seen {
  const startedAt = usedMs();
  const types: string[] = [];
  const codes: string[] = [];
  let wire: WireEvents | undefined;
  const channel = new Channel({
    wire: (events) => {
      wire = events;
      return { write: () => -1, pause: () => undefined, resume: () => undefined, end: () => undefined };
    },
    codec,
    files: memoryFrameFiles(),
  });
  channel.onMessage(({ type }) => types.push(type));
  channel.onRefused(({ code }) => codes.push(code));
  const ends = [...cuts.map((cut) => cut % bytes.length), bytes.length].toSorted((a, b) => a - b);
  ends.forEach((end, index) => wire?.data(bytes.slice(ends[index - 1] ?? 0, end)));
  return { types, codes, isClosed: channel.isClosed, usedMs: usedMs() - startedAt };
}
