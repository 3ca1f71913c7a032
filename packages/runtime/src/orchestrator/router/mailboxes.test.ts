import { expect, spyOn, test } from 'bun:test';
import { type AgentAddress, type AgentEvent, fileReferenceOf, GoondanError, textOf } from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';

const { cleanups, openSwarm } = closeAfterEach();
const at = { agentName: 'a', instanceKey: 'default' };

/** Opens a swarm whose accepted events are recorded before the store gets them. `turn`: resolves when turns may end. */
async function open(turn: Promise<void>) {
  const asked: { readonly to: AgentAddress; readonly tick: number }[] = [];
  const ticks = countTicks();
  const fake = await openSwarm(() => turn.then(() => 'done'), {
    wrap: (store) => ({
      ...store,
      inbox: {
        ...store.inbox,
        accept: (to, event) => {
          asked.push({ to, tick: ticks.count });
          return store.inbox.accept(to, event);
        },
      },
    }),
  });
  return { ...fake, asked };
}

/** Counts the ticks of the event loop. */
function countTicks() {
  const ticks = { count: 0, isOver: false };
  const count = () => {
    ticks.count += 1;
    if (!ticks.isOver) setImmediate(count);
  };
  setImmediate(count);
  cleanups.push(() => (ticks.isOver = true));
  return ticks;
}

test('a second delivery of a queued event is answered without the store', async () => {
  const turn = Promise.withResolvers<void>();
  const fake = await open(turn.promise);
  const { swarm, asked } = fake;
  const [running, waiting] = [fakeEvent('running'), fakeEvent('waiting')];
  const ends = [running, waiting].map(({ id }) => swarm.waiters.wait(at, id).end);
  expect(await swarm.accept(at, running, false)).toMatchObject({ duplicate: false });
  expect(await swarm.accept(at, waiting, false)).toMatchObject({ duplicate: false });
  const posted = spyOn(swarm.instances, 'post');
  for (const isAwaited of [true, false])
    for (const event of [running, waiting])
      expect(await swarm.accept(at, { ...event, traceId: 'f'.repeat(32) }, isAwaited)).toEqual({
        duplicate: true,
        // That of the turn, which the first delivery began.
        traceId: event.traceId,
      });
  expect(asked).toHaveLength(2);
  // The process gets each event with its own number, also if the turn has ended meanwhile.
  const again = [running, waiting].map((event, index) => [at, { type: 'work', seq: index + 1, event }]);
  expect(posted.mock.calls).toMatchObject([...again, ...again]);
  expect(swarm.instances.find(at)?.state.queue.map(({ seq }) => seq)).toEqual([1, 2]);
  turn.resolve();
  expect(await Promise.all(ends)).toHaveLength(2);
  // The turn has ended, so the store decides.
  expect(await swarm.accept(at, running, false)).toMatchObject({ duplicate: true });
  expect(asked).toHaveLength(3);
});

test('an accepted event has no secret in its texts and in the names of its files, and the bytes stay as they are', async () => {
  const secret = 'canary-12345';
  const fake = await openSwarm(async ({ event }) => JSON.stringify(event.content), { secrets: [secret] });
  const data = Buffer.from(`the bytes of ${secret}`);
  const event = fakeEvent('look', {
    content: [
      { type: 'text', text: `a ${secret}` },
      { type: 'file', data: data.toString('base64'), mediaType: 'text/plain', filename: `${secret}.txt` },
    ],
  });
  const { end } = fake.swarm.waiters.wait(at, event.id);
  await fake.swarm.accept(at, event, false);
  const { result } = await end;
  expect(JSON.parse(textOf(result.responseMessage))).toMatchObject([
    { text: 'a ***' },
    { filename: '***.txt', data: fileReferenceOf(sha256(data)) },
  ]);
});

test('Y-02 files of a second delivery do not count as named', async () => {
  const named: string[] = [];
  const fake = await openSwarm(async () => 'done', {
    wrap: (store) => ({
      ...store,
      blobs: {
        ...store.blobs,
        named: async (owner, digests) => {
          named.push(...digests);
          await store.blobs.named(owner, digests);
        },
      },
    }),
  });
  const { swarm } = fake;
  const event = fakeEvent('once');
  const withFile = (text: string) => ({
    ...event,
    content: [{ type: 'file' as const, data: Buffer.from(text).toString('base64'), mediaType: 'text/plain' }],
  });
  const { end } = swarm.waiters.wait(at, event.id);
  await swarm.accept(at, withFile('cat'), false);
  await end;
  expect(await swarm.accept(at, withFile('dog'), false)).toMatchObject({ duplicate: true });
  expect(named).toEqual([sha256('cat')]);
});

test('Y-02 an input that the inbox refuses stores no bytes', async () => {
  const put: string[] = [];
  const checked: AgentEvent[] = [];
  const fake = await openSwarm(async () => 'done', {
    wrap: (store) => ({
      ...store,
      inbox: {
        ...store.inbox,
        checkRoom: async (_, event) => {
          checked.push(event);
          throw new GoondanError('E_INBOX_FULL', 'Full.', { retryable: true });
        },
      },
      blobs: { ...store.blobs, put: async (owner, bytes) => (put.push(sha256(bytes)), store.blobs.put(owner, bytes)) },
    }),
  });
  const cat = { type: 'file' as const, data: Buffer.from('cat').toString('base64'), mediaType: 'text/plain' };
  const refused = await fake.swarm
    .accept(at, { ...fakeEvent('one'), content: [cat] }, false)
    .catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'E_INBOX_FULL', retryable: true });
  // The room is that of the event as it would be written.
  expect([put, checked]).toMatchObject([[], [{ content: [{ data: fileReferenceOf(sha256('cat')) }] }]]);
});

test('Y-02 Y-01 secrets in texts, addresses, schemas and names of clients do not reach the inbox', async () => {
  const secret = 'canary-12345678';
  const hidden = 'https://example.com/hidden';
  const never = Promise.withResolvers<void>();
  const fake = await openSwarm(() => never.promise.then(() => 'done'), { secrets: [secret, '87654321', hidden] });
  cleanups.push(() => never.resolve());
  const { swarm, journal } = fake;
  const bytes = Buffer.from(secret).toString('base64');
  const event: AgentEvent = {
    ...fakeEvent('one'),
    source: { kind: 'cli', name: `client ${secret}` },
    input: secret,
    content: [
      { type: 'text', text: secret },
      { type: 'image', image: `https://example.com/?key=${secret}`, filename: `${secret}.png` },
      { type: 'file', data: `http://${secret}.example.com/`, mediaType: 'text/plain' },
      { type: 'file', data: bytes, mediaType: 'text/plain' },
    ],
    output: { schema: { type: 'object', properties: { [secret]: { const: secret } } }, retries: 1 },
  };
  await swarm.accept(at, event, false);
  const [kept] = await journal.pending(at);
  expect(JSON.stringify(kept)).not.toContain(secret);
  expect(kept).toMatchObject({
    source: { kind: 'cli', name: 'client ***' },
    content: [
      { text: '***' },
      { image: 'https://example.com/?key=***', filename: '***.png' },
      { data: 'http://***.example.com/' },
      { data: fileReferenceOf(sha256(secret)) },
    ],
    output: { schema: { type: 'object', properties: { '***': { const: '***' } } }, retries: 1 },
  });
  const part = { type: 'text' as const, text: 'Hi', providerOptions: { openai: { note: secret } } };
  await swarm.accept(at, { ...fakeEvent('sent'), source: { kind: 'agent', name: 'b' }, content: [part] }, false);
  expect(await journal.pending(at)).toMatchObject([
    {},
    { content: [{ text: 'Hi', providerOptions: { openai: { note: '***' } } }] },
  ]);
  // Only agents may set them.
  const strange = swarm.accept(at, { ...fakeEvent('strange'), content: [part] }, false);
  expect(await strange.catch((error: unknown) => error)).toMatchObject({ code: 'E_FILE_INVALID' });
  // A schema that needs the masked number is refused before anything is stored.
  const numbered = { ...fakeEvent('two'), output: { schema: { type: 'number', minimum: 87654321 } } };
  expect(await swarm.accept(at, numbered, false).catch((error: unknown) => error)).toMatchObject({
    code: 'E_OUTPUT_INVALID',
  });
  const addressed = { ...fakeEvent('three'), content: [{ type: 'image' as const, image: hidden }] };
  expect(await swarm.accept(at, addressed, false).catch((error: unknown) => error)).toMatchObject({
    code: 'E_FILE_INVALID',
    message: 'The input cannot be taken: the URL of content[0] is a secret of the swarm, so it is not kept.',
  });
});

test.each([
  { type: 'file' as const, data: 'aGVsbG8=', mediaType: 'text/canary-12345678' },
  { type: 'image' as const, image: 'data:text/canary-12345678;base64,aGVsbG8=' },
])('Y-02 a secret in the media type of a part does not reach the inbox: $type', async (part) => {
  const fake = await openSwarm(async () => 'done', { secrets: ['canary-12345678'] });
  const accepted = fake.swarm.accept(at, { ...fakeEvent('one'), content: [part] }, false);
  expect(await accepted.catch((error: unknown) => error)).toMatchObject({
    code: 'E_FILE_INVALID',
    message: 'The input cannot be taken: the media type of content[0] is a secret of the swarm, so it is not kept.',
  });
});

test('Y-02 a reference to bytes that are not stored is refused, and nothing is accepted', async () => {
  const fake = await openSwarm(async () => 'done');
  const data = fileReferenceOf('a'.repeat(64));
  const forged = { ...fakeEvent('one'), content: [{ type: 'file' as const, data, mediaType: 'text/plain' }] };
  expect(await fake.swarm.accept(at, forged, false).catch((error: unknown) => error)).toMatchObject({
    code: 'E_FILE_UNKNOWN',
  });
  expect(await fake.journal.pending(at)).toEqual([]);
});

test('the first events of instances that sleep are accepted in different ticks, the later ones at once', async () => {
  const keys = ['one', 'two', 'three'];
  const turn = Promise.withResolvers<void>();
  const fake = await open(turn.promise);
  cleanups.push(() => turn.resolve());
  const { swarm, asked } = fake;
  for (const instanceKey of keys) swarm.instances.remember({ agentName: 'a', instanceKey });
  const deliver = (instanceKey: string) =>
    swarm.accept({ agentName: 'a', instanceKey }, fakeEvent('again', { instanceKey }), false);
  const ticks = async (sent: readonly string[]) => {
    asked.splice(0);
    await Promise.all(sent.map(deliver));
    return new Set(asked.map(({ tick }) => tick)).size;
  };
  expect(await ticks(keys)).toBe(3);
  expect(await ticks(keys)).toBe(1);
  // New instances have no log to read.
  expect(await ticks(['four', 'five', 'six'])).toBe(1);
});

test('S-07 the store gets the lease of the connection with its event', async () => {
  const fences: unknown[] = [];
  const fake = await openSwarm(async () => 'done', {
    wrap: (store) => ({
      ...store,
      inbox: {
        ...store.inbox,
        accept: (to, event, under) => {
          fences.push(under);
          return store.inbox.accept(to, event, under);
        },
      },
    }),
  });
  const fence = { connection: 'chat', epoch: 7 };
  await fake.swarm.accept(at, fakeEvent('heard'), false, fence);
  await fake.swarm.accept(at, fakeEvent('typed'), false);
  expect(fences).toEqual([fence, undefined]);
});
