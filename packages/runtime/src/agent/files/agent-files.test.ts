/** Tests that whatever enters a conversation with bytes is stored outside of it. */
import { describe, expect, test } from 'bun:test';
import {
  type AgentEvent,
  type ContentPart,
  createToolContent,
  createUserMessage,
  type ExtensionRegister,
  fileReferenceOf,
  GoondanError,
  type InputPart,
  type ModelReply,
} from '@goondan/types';
import { sha256 } from '../../json/sha256.ts';
import { AgentFiles } from './agent-files.ts';
import type { AgentBlobs } from '../../store/blobs.ts';
import { memoryBlobs } from '../../store/memory-blobs.ts';
import { appendRest } from '../../testing/append-rest.ts';
import { systemClock } from '../../ports/clock.ts';
import { extension, inProcessEngine, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { beforeNext, layerOf } from '../../testing/one-layer.ts';
import { memoryStore } from '../conversation/memory-store.ts';
import type { ConversationStore } from '../conversation/conversation-store.ts';

const canary = Buffer.from('the-canary-of-the-bytes'.repeat(4));
const base64 = canary.toString('base64');
const reference = fileReferenceOf(sha256(canary));
const picture: ContentPart = { type: 'image', image: base64, mediaType: 'image/png', filename: 'canary.png' };

/** A store that keeps everything that is written to it as text. */
function watchedStore() {
  const written: string[] = [];
  const store = memoryStore();
  const watched: ConversationStore = {
    ...store,
    append: (...given) => (written.push(JSON.stringify(given)), store.append(...given)),
    commit: (...given) => (written.push(JSON.stringify(given)), store.commit(...given)),
  };
  return { store: watched, written };
}

async function runWith(
  register: ExtensionRegister,
  options: { event?: Partial<AgentEvent>; script?: ScriptedAgentOptions['script']; blobs?: AgentBlobs } = {},
) {
  const { store, written } = watchedStore();
  const blobs = options.blobs ?? memoryBlobs();
  const agent = await scriptedAgent({
    store,
    blobs,
    extensions: [extension('files', register)],
    ...(options.script !== undefined && { script: options.script }),
  });
  const turn = await agent.say('look', { event: options.event ?? {} });
  return { ...turn, agent, written: written.join('\n'), trace: JSON.stringify(turn.trace), blobs };
}

const nothing: ExtensionRegister = () => undefined;

/** Registers a tool that returns these parts. */
const camera =
  (...parts: InputPart[]): ExtensionRegister =>
  ({ tools }) =>
    tools.register({ name: 'camera__shoot', description: 'Shoots.' }, () => createToolContent(parts));

/** Calls the tool, and then says this. */
const shoot = (say: string) => [{ when: 'look', call: { tool: 'camera__shoot' } }, { say }];

const filesIn = (blobs: AgentBlobs) =>
  new AgentFiles(blobs, { agentName: 'painter', instanceKey: 'default' }, () => ({ maxFileBytes: 1_000 }));

/** Expects that the bytes are stored, and that nothing else has them. */
async function expectOutside({ written, trace, blobs }: Awaited<ReturnType<typeof runWith>>) {
  expect(written).toContain(reference);
  for (const text of [written, trace]) expect(text.includes(base64.slice(0, 40))).toBe(false);
  expect(Buffer.from((await blobs.get(sha256(canary))) ?? []).equals(canary)).toBe(true);
}

describe('Y-02 bytes are stored outside of the conversation', () => {
  test('from an input', async () => {
    const ran = await runWith(nothing, { event: { content: [{ type: 'text', text: 'this' }, picture] } });
    await expectOutside(ran);
    const [input] = await ran.agent.messages();
    expect(input?.data.content).toEqual([
      { type: 'text', text: 'look' },
      { type: 'text', text: 'this' },
      { type: 'image', image: reference, mediaType: 'image/png', filename: 'canary.png', size: canary.length },
    ]);
  });

  test('from a message of a layer, which sees the reference at once', async () => {
    const seen: unknown[] = [];
    const ran = await runWith(
      layerOf('turn', (ctx) => {
        ctx.emitMessageEvent({ type: 'append', message: createUserMessage([picture], {}, { id: 'mine' }) });
        seen.push(ctx.conversationState.nextMessages.find(({ id }) => id === 'mine')?.data.content);
        return ctx.next();
      }),
    );
    await expectOutside(ran);
    expect(seen).toMatchObject([[{ image: reference, size: canary.length }]]);
  });

  test('from the result of a tool, which the model sees as content', async () => {
    const image: InputPart = { type: 'image', image: canary, mediaType: 'image/png', filename: 'canary.png' };
    const ran = await runWith(camera({ type: 'text', text: 'Here.' }, image), { script: shoot('{{result}}') });
    await expectOutside(ran);
    expect(ran.text).toBe('Here.\n[image canary.png, 92 B]');
  });

  test('from the result of a layer in place of a tool', async () => {
    const ran = await runWith(
      ({ pipeline, tools }) => {
        tools.register({ name: 'camera__shoot', description: 'Shoots.' }, () => null);
        pipeline.register(
          'toolCall',
          async ({ toolCallId, toolName }) => ({
            toolCallId,
            toolName,
            status: 'ok',
            output: createToolContent([picture]),
          }),
          { mayShortCircuit: true },
        );
      },
      { script: shoot('done') },
    );
    await expectOutside(ran);
  });

  test('from the reply of a layer in place of a model', async () => {
    const reply: ModelReply = {
      content: [{ type: 'file', data: base64, mediaType: 'image/png' }],
      finishReason: 'stop',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    };
    const ran = await runWith(layerOf('model', async () => structuredClone(reply), { mayShortCircuit: true }));
    await expectOutside(ran);
  });

  test('from a request of a layer to a model', async () => {
    const { agent, trace } = await runWith(
      layerOf('turn', async (ctx) => {
        await ctx.model.generate({ messages: [{ role: 'user', content: [picture] }] });
        return ctx.next();
      }),
    );
    expect(JSON.stringify(agent.requests[0]?.messages)).toContain(reference);
    expect(trace.includes(base64.slice(0, 40))).toBe(false);
  });
});

test('Y-02 bytes are stored although a reference to them led nowhere before', async () => {
  const blobs = memoryBlobs();
  const files = filesIn(blobs);
  const named: ContentPart = { ...picture, image: reference };
  files.takeContent([named]);
  files.takeContent([picture]);
  await files.settle();
  expect(await blobs.size(sha256(canary))).toBe(canary.length);
});

test('Y-02 the result of a tool may name a file of an earlier process', () => {
  const files = filesIn(memoryBlobs());
  const output = createToolContent([{ ...picture, image: reference }]);
  const message = createUserMessage([{ ...picture, image: reference }]);
  expect(files.takeResult(output, () => [message])).toEqual(output);
  expect(() =>
    files.takeResult(createToolContent([{ ...picture, image: fileReferenceOf('a'.repeat(64)) }]), () => [message]),
  ).toThrow('No file with the SHA-256');
});

test.each([
  ['a file of another conversation', {}, 'E_FILE_UNKNOWN'],
  ['a file of its own conversation', { content: [picture] }, 'done'],
])('Y-02 the result of a tool that names %s', async (_, event, expected) => {
  const blobs = memoryBlobs();
  await blobs.put({ agentName: 'other', instanceKey: 'default' }, canary);
  const script = shoot(expected === 'done' ? 'done' : '{{result.error.code}}');
  const { text } = await runWith(camera({ ...picture, image: reference }), { blobs, event, script });
  expect(text).toBe(expected);
});

test('Y-02 no record is written before its bytes are stored', async () => {
  const order: string[] = [];
  const kept = memoryBlobs();
  const blobs: AgentBlobs = {
    ...kept,
    async put(owner, bytes) {
      await Bun.sleep(20);
      order.push('stored');
      return kept.put(owner, bytes);
    },
  };
  const store = memoryStore();
  const noting: ConversationStore = {
    ...store,
    append: (...given) => (JSON.stringify(given).includes(reference) && order.push('named'), store.append(...given)),
    commit: (...given) => (JSON.stringify(given).includes(reference) && order.push('named'), store.commit(...given)),
  };
  const agent = await scriptedAgent({ store: noting, blobs });
  await agent.say('look', { event: { content: [picture] } });
  expect([order[0], order.filter((what) => what === 'stored').length]).toEqual(['stored', 1]);
  expect(order).toContain('named');
});

test('Y-02 no turn is committed before the bytes of its result are stored', async () => {
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const kept = memoryBlobs();
  const blobs: AgentBlobs = {
    ...kept,
    async put(owner, bytes) {
      await gate.promise;
      order.push('stored');
      return kept.put(owner, bytes);
    },
  };
  const store = memoryStore();
  const noting: ConversationStore = { ...store, commit: (...given) => (order.push('named'), store.commit(...given)) };
  const register: ExtensionRegister = layerOf('turn', async (ctx) => {
    const result = await ctx.next();
    setTimeout(gate.resolve, 20);
    return { ...result, responseMessage: createUserMessage([picture], {}, { id: 'drawn' }) };
  });
  const agent = await scriptedAgent({ store: noting, blobs, extensions: [extension('draws', register)] });
  await agent.say('look');
  expect(order).toEqual(['stored', 'named']);
});

test('Y-02 bytes that could not be stored are stored with the next attempt', async () => {
  const kept = memoryBlobs();
  let isFull = true;
  const put: AgentBlobs['put'] = (owner, bytes) =>
    isFull ? Promise.reject(new Error('full')) : kept.put(owner, bytes);
  const files = filesIn({ ...kept, put });
  files.takeContent([picture]);
  expect(await files.settle()?.catch((error: unknown) => error)).toEqual(new Error('full'));
  isFull = false;
  files.takeContent([picture]);
  await files.settle();
  expect(await kept.size(sha256(canary))).toBe(canary.length);
});

test('Y-02 a file that is not stored any more is an error with a code', async () => {
  const read = filesIn(memoryBlobs()).read('gone');
  expect(await read.catch((error: unknown) => error)).toMatchObject({ code: 'E_FILE_UNKNOWN' });
});

test('Y-02 the bytes that are kept for model calls have a limit', async () => {
  const large = new Uint8Array(40 * 1_024 * 1_024);
  const asked: string[] = [];
  const get = async (digest: string) => (asked.push(digest), large);
  const files = filesIn({ ...memoryBlobs(), get });
  for (const digest of ['a', 'a', 'b', 'b', 'a']) await files.read(digest);
  expect(asked).toEqual(['a', 'b', 'a']);
});

test('Y-02 a turn whose bytes cannot be stored is not committed', async () => {
  const full = new GoondanError('E_DISK_FULL', 'The disk is full.');
  const blobs: AgentBlobs = { ...memoryBlobs(), put: () => Promise.reject(full) };
  const agent = await scriptedAgent({ blobs });
  const failed = await agent.say('look', { event: { content: [picture] } }).catch((error: unknown) => error);
  expect(failed).toBe(full);
  expect(await agent.messages()).toEqual([]);
});

describe('Y-02 a file that is too large', () => {
  const policy = { maxFileBytes: canary.length - 1 };

  test('fails the tool that returned it', async () => {
    const agent = await scriptedAgent({
      policy,
      script: shoot('{{result.error.code}}'),
      extensions: [extension('files', camera(picture))],
    });
    expect((await agent.say('look')).text).toBe('E_FILE_SIZE');
  });

  test.each([
    [0, 'I see [image, 20 MB].'],
    [1, 'E_FILE_SIZE'],
  ])('is refused in the result of a tool at 20 MiB and %d more bytes', async (more, expected) => {
    const image = Buffer.alloc(20 * 1_024 * 1_024 + more, 'the bytes of a cat ');
    const agent = await scriptedAgent({
      script: shoot(more === 0 ? 'I see {{result}}.' : '{{result.error.code}}'),
      extensions: [extension('files', camera({ type: 'image', image, mediaType: 'image/png' }))],
    });
    expect((await agent.say('look')).text).toBe(expected);
  });

  test('fails the tool whose files have more than twice the bytes of one file together', async () => {
    const other = (word: string): ContentPart => ({ ...picture, image: Buffer.alloc(40, word).toString('base64') });
    for (const [words, expected] of [
      [['a', 'b'], 'done'],
      [['a', 'b', 'c'], 'E_FILE_SIZE'],
    ] as const) {
      const agent = await scriptedAgent({
        policy: { maxFileBytes: 40 },
        script: shoot(expected === 'done' ? 'done' : '{{result.error.code}}'),
        extensions: [extension('files', camera(...words.map((word) => other(word))))],
      });
      expect((await agent.say('look')).text).toBe(expected);
    }
  });

  test('stays in the result of a resumed turn that was recorded before the limit was lowered', async () => {
    const inner = memoryStore();
    const dying: ConversationStore = {
      ...inner,
      async append(at, epoch, index, records) {
        const named = records.findIndex((record) => JSON.stringify(record).includes(reference));
        await inner.append(at, epoch, index, named === -1 ? records : records.slice(0, named + 1));
        if (named !== -1) throw new Error('gone');
      },
    };
    const blobs = memoryBlobs();
    const options = {
      blobs,
      script: shoot('{{result}}'),
      extensions: [extension('files', camera(picture))],
    };
    const first = await scriptedAgent({ ...options, store: appendRest(dying) });
    expect(await first.say('look', { seq: 1 }).catch((error: unknown) => error)).toEqual(new Error('gone'));
    const again = await scriptedAgent({ ...options, store: inner, policy });
    expect((await again.say('look', { seq: 1 })).text).toBe('[image canary.png, 92 B]');
  });

  test('is refused in a message of a layer, and accepted with one byte less', async () => {
    for (const [maxFileBytes, code] of [
      [canary.length - 1, 'E_FILE_SIZE'],
      [canary.length, undefined],
    ] as const) {
      const agent = await scriptedAgent({
        policy: { maxFileBytes },
        extensions: [
          beforeNext('files', 'turn', (ctx) =>
            ctx.emitMessageEvent({ type: 'append', message: createUserMessage([picture]) }),
          ),
        ],
      });
      expect((await agent.say('look')).result.error?.code).toBe(code);
    }
  });
});

describe('Y-02 a call to another agent', () => {
  test('passes references on', async () => {
    const engine = inProcessEngine(systemClock);
    engine.add('painter', async ({ id }) => ({ turnId: `turn-${id}`, finishReason: 'text_response' }));
    const outcomes: unknown[] = [];
    const agent = await scriptedAgent({
      engine,
      extensions: [
        beforeNext('files', 'turn', async (ctx) => {
          await ctx.agents.request({ target: 'painter', content: [picture] });
          await ctx.agents.request({ target: 'painter', files: ['canary.png'] });
          outcomes.push(
            await ctx.agents.request({ target: 'painter', files: ['dog.png'] }).catch((error: unknown) => error),
          );
        }),
      ],
    });
    await agent.say('look', { event: { content: [picture] } });
    const part: ContentPart = {
      type: 'image',
      image: reference,
      mediaType: 'image/png',
      filename: 'canary.png',
      size: canary.length,
    };
    expect(engine.calls.map(({ event }) => event.content)).toEqual([[part], [part]]);
    expect(outcomes).toMatchObject([
      {
        code: 'E_AGENT_REQUEST',
        message: 'A call to another agent: the conversation has no file "dog.png"; it has: canary.png.',
      },
    ]);
  });
});
