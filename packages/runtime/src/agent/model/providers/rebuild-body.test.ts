import { expect, test } from 'bun:test';
import { type ContentPart, fileReferenceOf, type ModelMessage } from '@goondan/types';
import { sha256 } from '../../../json/sha256.ts';
import { systemClock } from '../../../ports/clock.ts';
import type { SentRequest } from '../../../trace/model-request.ts';
import { rebuildBody } from './rebuild-body.ts';
import { ask, failureOf, openAt } from './wire/ask-model.ts';
import { png, providerCases } from './wire/provider-cases.ts';
import { startWireServer } from './wire/wire-server.ts';

const bytes = Buffer.from(png, 'base64');
const image: ContentPart = { type: 'image', image: fileReferenceOf(sha256(bytes)), mediaType: 'image/png' };
const messages: readonly ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'Look.' }, image] }];
const readFile = async () => bytes;
const gone = async () => {
  throw new Error('The file is gone.');
};

test.each(providerCases)('V-01 %s: the body of a request with a stored file is built again', async (name, provider) => {
  await using server = startWireServer(provider.dialect);
  server.answer({ reply: { text: ['ok'], usage: { input: 1, output: 1, cached: 0 } } });
  let sent: SentRequest | undefined;
  await ask(openAt(server.url, provider), messages, { readFile, onSent: (made) => void (sent = made) });
  const { model = '', settings = {}, body } = sent ?? {};
  expect(body).toContain(png);
  const recorded = { provider: name, model, settings, messages, tools: [], fields: { params: {} } };
  expect((await rebuildBody(recorded, systemClock, readFile)).body).toBe(body as string);
  expect(await failureOf(rebuildBody(recorded, systemClock, gone))).toMatchObject({
    message: expect.stringContaining('The file is gone.'),
  });
});

test.each(providerCases)('V-01 X-09 %s: a request with odd names of tools is built again', async (name, provider) => {
  await using server = startWireServer(provider.dialect);
  server.answer({ reply: { text: ['ok'], usage: { input: 1, output: 1, cached: 0 } } });
  const names = ['a.b', 'a/b', 'a b', '날씨', 'x'.repeat(100)];
  const tools = names.map((toolName) => ({ name: toolName, description: 'A tool.' }));
  const call = { toolCallId: 'call-1', toolName: 'a.b' };
  const said: readonly ModelMessage[] = [
    { role: 'user', content: 'Go.' },
    { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'text', value: 'done' } }] },
  ];
  let sent: SentRequest | undefined;
  await ask(openAt(server.url, provider), said, { tools, onSent: (made) => void (sent = made) });
  const { model = '', settings = {}, body } = sent ?? {};
  const recorded = { provider: name, model, settings, messages: said, tools, fields: { params: {} } };
  expect((await rebuildBody(recorded, systemClock, readFile)).body).toBe(body as string);
});
