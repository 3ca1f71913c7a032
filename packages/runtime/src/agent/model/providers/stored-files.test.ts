/** Tests that stored files reach each provider in its own format, and that files it does not take are refused before. */
import { describe, expect, test } from 'bun:test';
import { type ContentPart, fileReferenceOf, type JsonValue, type ModelMessage } from '@goondan/types';
import { sha256 } from '../../../json/sha256.ts';
import { ask, failureOf, openAt } from './wire/ask-model.ts';
import { pdf, pictureUrl, png, type ProviderCase, providerCases } from './wire/provider-cases.ts';
import { startWireServer } from './wire/wire-server.ts';

const usage = { input: 10, output: 5, cached: 0 };
const stored = new Map<string, Uint8Array>();

function store(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  stored.set(sha256(bytes), bytes);
  return fileReferenceOf(sha256(bytes));
}

const readFile = async (digest: string) => {
  const bytes = stored.get(digest);
  if (bytes === undefined) throw new Error('not stored');
  return bytes;
};

const picture = store(png);
const paper = store(pdf);
const notes = store(Buffer.from('Buy milk.').toString('base64'));
const drawing = store(Buffer.from('<svg/>').toString('base64'));
const zip = store(Buffer.from('PK\u0003\u0004zip').toString('base64'));

const image: ContentPart = { type: 'image', image: picture, mediaType: 'image/png', filename: 'cat.png', size: 16 };

async function send(provider: ProviderCase, messages: readonly ModelMessage[]): Promise<readonly JsonValue[]> {
  await using server = startWireServer(provider.dialect);
  server.answer({ reply: { text: ['ok'], usage } });
  await ask(openAt(server.url, provider), messages, { readFile });
  return provider.messages(server.requests[0]?.body ?? {});
}

const call: ModelMessage = {
  role: 'assistant',
  content: [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'camera__shoot', input: {} }],
};

const resultOf = (value: ContentPart[]): ModelMessage => ({
  role: 'tool',
  content: [
    { type: 'tool-result', toolCallId: 'call-1', toolName: 'camera__shoot', output: { type: 'content', value } },
  ],
});

/** The result of the tool with a picture, in the format of each provider. */
const shots: Readonly<Record<string, JsonValue>> = {
  anthropic: {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'call-1',
        content: [
          { type: 'text', text: 'Here:' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
        ],
      },
    ],
  },
  google: {
    role: 'user',
    parts: [
      {
        functionResponse: {
          id: 'call-1',
          name: 'camera__shoot',
          response: { name: 'camera__shoot', content: 'Here:' },
        },
      },
      // Gemini 2.5 has no parts in function responses.
      { inlineData: { mimeType: 'image/png', data: png } },
      { text: 'Tool executed successfully and returned this image as a response' },
    ],
  },
};

describe.each(providerCases)('%s', (name, provider) => {
  const isChat = name.startsWith('openai');

  test('Y-02 gets stored images and files in its own format', async () => {
    const message: ModelMessage = {
      role: 'user',
      content: [
        { type: 'text', text: 'Look:' },
        image,
        { type: 'file', data: paper, mediaType: 'application/pdf', filename: 'paper.pdf', size: 13 },
        { type: 'image', image: pictureUrl, mediaType: 'image/jpeg' },
      ],
    };
    const parts = name === 'google' ? { parts: provider.files } : { content: provider.files };
    expect(await send(provider, [message])).toEqual([{ role: 'user', ...parts }]);
  });

  test('Y-02 gets a stored text file as text', async () => {
    const file: ContentPart = { type: 'file', data: notes, mediaType: 'text/markdown', filename: 'notes.md' };
    const [message] = await send(provider, [{ role: 'user', content: [file] }]);
    expect(JSON.stringify(message)).toContain('"notes.md:\\n\\nBuy milk."');
  });

  test('Y-02 gets the picture of a tool result', async () => {
    const sent = await send(provider, [
      { role: 'user', content: 'Shoot.' },
      call,
      resultOf([{ type: 'text', text: 'Here:' }, image]),
    ]);
    if (!isChat) return expect(sent.slice(2)).toEqual([shots[name] ?? null]);
    expect(sent.slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'call-1', content: 'Here:\n[image cat.png, 16 B] (in the next message)' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'A file of the result of camera__shoot (call-1):' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        ],
      },
    ]);
  });

  test('Y-02 refuses a file that it does not take, with the names of the file and the model', async () => {
    // Google's package sends every type.
    if (name === 'google') return;
    await using server = startWireServer(provider.dialect);
    const file: ContentPart = { type: 'file', data: zip, mediaType: 'application/zip', filename: 'all.zip', size: 7 };
    const messages: ModelMessage[] = [{ role: 'user', content: [image, file] }];
    const error = await failureOf(ask(openAt(server.url, provider), messages, { readFile }));
    expect(error).toMatchObject({ code: 'E_MODEL_FILE', retryable: false });
    expect(String(error)).toContain(`${provider.provider}/${provider.model} does not take [file all.zip, 7 B]`);
    expect(server.requests).toBeEmpty();
    // A tool may return anything, so such a file is only named.
    const sent = await send(provider, [{ role: 'user', content: 'Pack.' }, call, resultOf([file])]);
    expect(JSON.stringify(sent)).toContain('[file all.zip, 7 B] (this model cannot read files of this type)');
  });

  test('Y-02 refuses a picture whose bytes are not one, and later turns only name it', async () => {
    await using server = startWireServer(provider.dialect);
    const file: ContentPart = { type: 'image', image: notes, mediaType: 'image/png', filename: 'cat.png', size: 9 };
    const messages: ModelMessage[] = [{ role: 'user', content: [image, file] }];
    const error = await failureOf(ask(openAt(server.url, provider), messages, { readFile }));
    expect(error).toMatchObject({ code: 'E_MODEL_FILE', retryable: false });
    expect(String(error)).toContain(
      `${provider.model} does not take [image cat.png, 9 B] (image/png): its bytes are not`,
    );
    expect(server.requests).toBeEmpty();
    const sent = JSON.stringify([
      ...(await send(provider, [...messages, { role: 'user', content: 'Without it, please.' }])),
      ...(await send(provider, [{ role: 'user', content: 'Shoot.' }, call, resultOf([file])])),
    ]);
    expect(sent.split('[image cat.png, 9 B] (this model cannot read files of this type)')).toHaveLength(3);
    expect(sent).not.toContain(Buffer.from('Buy milk.').toString('base64'));
  });

  test('Y-02 gets a stored SVG as text', async () => {
    const svg: ContentPart = { type: 'image', image: drawing, mediaType: 'image/svg+xml', filename: 'a.svg' };
    const [message] = await send(provider, [{ role: 'user', content: [svg] }]);
    expect(JSON.stringify(message)).toContain('"a.svg:\\n\\n<svg/>"');
  });

  test('Y-02 names the way out if the provider refuses a request with files', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({
      status: 400,
      body: JSON.stringify(provider.dialect.error(400, provider.errorTypes.bad, 'No vision.')),
    });
    const error = await failureOf(
      ask(openAt(server.url, provider), [{ role: 'user', content: [image] }], { readFile }),
    );
    expect(error).toMatchObject({ code: 'E_MODEL_FAILED', suggestion: expect.stringContaining('`gdn fork ') });
  });

  test('Y-02 only names a file that it does not take in an earlier input, so that the conversation goes on', async () => {
    if (name === 'google') return;
    const file: ContentPart = { type: 'file', data: zip, mediaType: 'application/zip', filename: 'all.zip', size: 7 };
    const sent = JSON.stringify(
      await send(provider, [
        { role: 'user', content: [image, file] },
        { role: 'user', content: 'Without the archive, please.' },
      ]),
    );
    expect(sent).toContain('[file all.zip, 7 B] (this model cannot read files of this type)');
    expect(sent).toContain(png);
  });

  test('Y-02 sends nothing if a file is not stored any more', async () => {
    await using server = startWireServer(provider.dialect);
    const messages: ModelMessage[] = [{ role: 'user', content: [image] }];
    const error = await failureOf(ask(openAt(server.url, provider), messages));
    expect(error).toMatchObject({ code: 'E_FILE_UNKNOWN' });
    expect(server.requests).toBeEmpty();
  });
});
