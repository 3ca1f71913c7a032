import { expect, test } from 'bun:test';
import type { CallPrompt, TurnPrompts } from '@goondan/runtime/history';
import type { JsonValue, ModelMessage } from '@goondan/types';
import { createColors } from '../colors.ts';
import { renderPrompts } from './render-prompts.ts';

const terminal = { colors: createColors(false), columns: 60, isWatched: false };
const person = { kind: 'input', from: { kind: 'cli', name: 'gdn' } } as const;

function messageOf(content: string, author: CallPrompt['request']['messages'][number]['author'], role = 'user') {
  // The cast is safe: the tests use only roles of messages with text.
  return { digest: content, message: { role, content } as ModelMessage, author };
}

const call: CallPrompt = {
  effect: '0/model',
  run: 0,
  step: 0,
  provider: 'anthropic',
  model: 'claude',
  package: '@ai-sdk/anthropic@1.0.0',
  bodyDigest: '0123456789abcdef0123',
  isExact: true,
  body: {},
  problems: [],
  request: {
    modelRef: 'Model/claude',
    modelAuthor: { kind: 'layer', layer: { extension: 'router', name: 'route', kind: 'model' } },
    messages: [
      messageOf('Be brief.', { kind: 'prompt', agent: 'host' }, 'system'),
      messageOf('Hello \u001b[2J', { kind: 'conversation', author: person, turnId: 't' }),
    ],
    tools: [
      {
        name: 'weather__get',
        tool: { name: 'weather__get', description: 'The weather.' },
        author: {
          kind: 'layer',
          offeredBy: 'Tool/weather',
          layer: { extension: 'guard', name: 'model', kind: 'model' },
        },
      },
    ],
    params: [
      { name: 'maxTokens', value: 100, author: { kind: 'provider', name: 'anthropic' } },
      { name: 'topP', author: { kind: 'unknown' } },
    ],
    fields: { params: {} },
  },
  reply: {
    content: [{ type: 'text', text: 'Hi.' }],
    finishReason: 'stop',
    usage: { inputTokens: 89, outputTokens: 20, totalTokens: 109, cachedInputTokens: 8, cacheWriteTokens: 5 },
  },
};

const prompts = (...calls: CallPrompt[]): TurnPrompts => ({
  turn: {
    turnId: 'turn-1',
    agentName: 'host',
    instanceKey: 'default',
    traceId: 'a',
    spanId: 'b',
    source: { kind: 'cli', name: 'gdn' },
    startedAt: '2026-01-02T03:04:05.000Z',
    resumes: 0,
  },
  calls,
  unsent: [],
});

test('shows the verdict, each part with its author, and the reply', () => {
  expect(renderPrompts(prompts(call), false, terminal).split('\n').slice(1)).toEqual([
    '',
    'step 0  Model/claude (anthropic claude)  0/model',
    'model chosen by extension router (route, model layer)',
    'exact  the body that @ai-sdk/anthropic@1.0.0 sent',
    'system  system prompt of agent host',
    '    Be brief.',
    'user  person via cli',
    '    Hello ␛[2J',
    'tool weather__get  Tool/weather, changed by extension guard (model layer)',
    '    The weather.',
    'param maxTokens: 100  default for anthropic',
    'param topP: not set  unknown',
    'reply  stop, 89 → 20 tokens (8 from the cache, 5 written to it)',
    '    Hi.',
    '',
  ]);
});

test('V-01 a request that is not exact says why, and never "exact" alone', () => {
  const problems = [{ kind: 'missing', message: 'message "m" is gone' } as const];
  const text = renderPrompts(prompts({ ...call, isExact: false, problems }), false, terminal);
  expect(text).toContain('\nnot exact  message "m" is gone\n');
  expect(text).not.toMatch(/^exact/m);
});

test('long texts and many messages are cut with a note, and --full shows everything', () => {
  const long = messageOf('word '.repeat(400), { kind: 'runtime' });
  const many = Array.from({ length: 40 }, (_, index) => messageOf(`m${index}`, { kind: 'runtime' }));
  const large = { ...call, request: { ...call.request, messages: [long, ...many] } };
  const short = renderPrompts(prompts(large), false, terminal);
  expect(short).toContain('    … 799 more characters; --full shows everything\n');
  expect(short).toContain('    … 17 messages left out; --full shows everything\n');
  expect(short).toContain('m39');
  expect(short).not.toContain('m10');
  const full = renderPrompts(prompts(large), true, terminal);
  expect(full).toContain('m10');
  expect(full).not.toContain('--full');
  for (const line of `${short}${full}`.split('\n').slice(5))
    if (line.startsWith('    w')) expect(line.length).toBeLessThanOrEqual(60);
});

test('a file that was not sent is shown as the text in its place', () => {
  const file = {
    type: 'file',
    data: 'blob:sha256-0',
    mediaType: 'application/zip',
    filename: 'all.zip',
    size: 7,
  } as const;
  const said = { ...messageOf('', { kind: 'runtime' }), message: { role: 'user', content: [file] } as ModelMessage };
  const request = { ...call.request, messages: [said] };
  const text = '[file all.zip, 7 B] (this model cannot read files of this type)';
  const show = (body: JsonValue) =>
    renderPrompts(prompts({ ...call, request, body }), true, { ...terminal, columns: 99 });
  expect(show({ messages: [{ role: 'user', content: [{ type: 'text', text }] }] })).toContain(`\n    ${text}\n`);
  expect(show({ messages: [] })).toContain('\n    [file all.zip, 7 B]\n');
});

test('a line is wrapped at a terminal, and stays whole in a pipe', () => {
  const long = messageOf('word '.repeat(100).trim(), { kind: 'runtime' });
  const large = { ...call, request: { ...call.request, messages: [long] } };
  const piped = renderPrompts(prompts(large), true, { ...terminal, columns: undefined });
  expect(piped).toContain(`\n    ${'word '.repeat(100).trim()}\n`);
});

test('a later call does not repeat the messages and tools of the call before', () => {
  const more = messageOf('And now?', { kind: 'conversation', author: person, turnId: 't' });
  const next = { ...call, step: 1, request: { ...call.request, messages: [...call.request.messages, more] } };
  const text = renderPrompts(prompts(call, next), false, terminal);
  const second = text.slice(text.indexOf('step 1'));
  expect(second).toContain(
    'the first 2 messages are those of the request before\nuser  person via cli\n    And now?\n',
  );
  expect(second).toContain('the tools are those of the request before\n');
  expect(second).not.toContain('Be brief.');
  expect(renderPrompts(prompts(call, next), true, terminal).split('Be brief.')).toHaveLength(3);
});

test('V-01 a later call repeats a message that has another author there', () => {
  const [prompt, said] = call.request.messages;
  if (prompt === undefined || said === undefined) throw new Error('no messages');
  const copied = { ...said, author: { kind: 'extension', name: 'adviser' } as const };
  const advice = { ...call, request: { ...call.request, messages: [prompt, copied] } };
  const text = renderPrompts(prompts(advice, call), false, terminal);
  expect(text.match(/^user  .*$/gm)).toEqual(['user  extension adviser', 'user  person via cli']);
});

test('V-01 the schema of the answer names its author, and --full shows the parameters of tools', () => {
  const parameters = { type: 'object', properties: {} } as const;
  const tool = { name: 'get', description: 'Gets.', parameters };
  const tools = [{ name: 'get', tool, author: { kind: 'tool', offeredBy: 'Tool/weather' } as const }];
  const fields = { params: {}, outputSchema: { type: 'object' } as const };
  const outputAuthor = { kind: 'agent', name: 'host' } as const;
  const demanding = { ...call, request: { ...call.request, tools, fields, outputAuthor } };
  const short = renderPrompts(prompts(demanding), false, terminal);
  expect(short).toContain('schema of the answer  agent host\n    {"type":"object"}\n');
  expect(short).not.toContain('parameters');
  expect(renderPrompts(prompts(demanding), true, terminal)).toContain(
    '    Gets.\n    parameters: {"type":"object","properties":{}}\n',
  );
});

test('no field of a record controls the terminal', () => {
  const evil = '\u001b[2J';
  const shown = {
    ...call,
    effect: evil,
    package: evil,
    request: { ...call.request, messages: [messageOf('', { kind: 'runtime' }, evil)] },
  };
  const unsent = [{ effect: evil, modelRef: evil, why: 'unknown' } as const];
  expect(renderPrompts({ ...prompts(shown), unsent }, false, terminal)).not.toContain('\u001b');
});

test('a failed call shows its error, and a call without a request the reason', () => {
  const { reply: _, ...rest } = call;
  const error = { code: 'E_MODEL_FAILED', message: 'busy\u001b[2J' };
  const unsent = [{ effect: '1/model', step: 1, modelRef: 'Model/claude', why: 'answered' } as const];
  const text = renderPrompts({ ...prompts({ ...rest, error }), unsent }, false, terminal);
  expect(text).toContain('failed  E_MODEL_FAILED: busy');
  expect(text).not.toContain('\u001b');
  expect(text).toEndWith(
    'step 1  Model/claude  1/model\nA layer answered in place of the model, so nothing was sent.\n',
  );
});

test('a call that sent nothing, and a turn without a call, name the error', () => {
  const error = 'E_MODEL_FILE: anthropic/claude does not take x.mp4.';
  const unsent = [{ effect: '0/model', step: 0, modelRef: 'Model/claude', why: 'failed', error } as const];
  const { turn } = prompts(call);
  expect(renderPrompts({ turn, calls: [], unsent }, false, terminal)).toEndWith(
    `step 0  Model/claude  0/model\nNothing was sent to the model, because the call failed before: ${error}\n`,
  );
  const failed = { ...turn, ending: 'failed', error: 'E_LAYER_FAILED: no' } as const;
  expect(renderPrompts({ turn: failed, calls: [], unsent: [] }, false, terminal)).toEndWith(
    'The turn called no model, because it failed before: E_LAYER_FAILED: no\n',
  );
});
