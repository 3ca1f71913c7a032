import { expect, test } from 'bun:test';
import type { MiddlewareKind } from '@goondan/types';
import { madeLayer as layer, madeRecord } from '../testing/made-trace.ts';
import { assembleTrace } from './assemble-trace.ts';
import { renderTrace } from './render-trace.ts';
import type { ChainRecord, TurnTrace } from './turn-trace.ts';

function chain(kind: MiddlewareKind, label: string, more: Partial<ChainRecord> = {}): ChainRecord {
  return madeRecord(kind, label, { id: 'id', totalMs: 3, ...more });
}

const linesOf = (...rendered: Parameters<typeof renderTrace>) => renderTrace(...rendered).split('\n');

test('layers are nested like the onion, around everything that ran inside them', () => {
  const turn = chain('turn', 'coder', {
    totalMs: 1234.5,
    layers: [layer('logging'), layer('memory', { name: 'recall', ownMs: 12.6 })],
    inside: [chain('step', '0', { layers: [layer('guard')], inside: [chain('model', 'Model/m')] }), chain('step', '1')],
  });
  expect(linesOf(turn)).toEqual([
    'turn coder 1.2 s',
    '│ logging own 1.00 ms',
    '│ │ memory · recall own 13 ms',
    '│ │ │ step 0 3.00 ms',
    '│ │ │ │ guard own 1.00 ms',
    '│ │ │ │ │ model Model/m 3.00 ms',
    '│ │ │ step 1 3.00 ms',
  ]);
});

test('each layer shows its changes before next(), in the conversation, and in the result', () => {
  const busy = layer('busy', {
    changed: [
      { path: 'args.text', before: 'a', after: 'b' },
      { path: 'args.new', after: '1' },
      { path: 'args.old', before: '2' },
    ],
    emitted: ['append system x', 'truncate'],
    emittedMore: 7,
    resultChanged: [{ path: 'output', before: 'raw', after: '***' }],
  });
  expect(linesOf(chain('toolCall', 'echo__say', { layers: [busy] })).slice(2)).toEqual([
    '│ │ ~ args.text: a → b',
    '│ │ ~ args.new added: 1',
    '│ │ ~ args.old removed',
    '│ │ + append system x',
    '│ │ + truncate',
    '│ │ + 7 more',
    '│ │ ← output: raw → ***',
  ]);
});

test('the outcome of a layer is shown unless it passed', () => {
  const layers = [
    layer('gate', { outcome: 'short_circuit' }),
    layer('shaky', { outcome: 'skipped', error: 'E_X: no' }),
    layer('broken', { outcome: 'failed', error: 'boom', isBeforeNext: true }),
  ];
  const text = renderTrace(chain('step', '0', { layers, error: 'boom' }));
  expect(text.split('\n').slice(1)).toEqual([
    '│ gate own 1.00 ms',
    '│ │ ⊘ did not call next()',
    '│ │ shaky own 1.00 ms',
    '│ │ │ skipped: E_X: no',
    '│ │ │ broken own 1.00 ms',
    '│ │ │ │ ✗ boom',
  ]);
});

test('an error is shown at its origin and at the turn; the parts between have passed it on', () => {
  const error = 'E_MODEL_FAILED: no';
  const failed = (extension: string) => layer(extension, { outcome: 'failed', error });
  const translated = layer('outer', { outcome: 'failed', error: 'E_X: sorry' });
  const model = chain('model', 'Model/main', { error, layers: [failed('cache')] });
  const retried = chain('step', '0', { error, retryMs: 20, layers: [failed('a')], inside: [model] });
  const last = chain('step', '1', { error, layers: [failed('a')], inside: [model] });
  const turn = chain('turn', 'host', {
    error: 'E_X: sorry',
    layers: [translated, failed('b')],
    inside: [retried, last],
  });
  expect(
    renderTrace(turn)
      .replaceAll(/ own \S+ ms| \d\.\d+ ms/g, '')
      .split('\n'),
  ).toEqual([
    'turn host',
    '│ ✗ E_X: sorry',
    '│ outer',
    '│ │ ✗ E_X: sorry',
    '│ │ b ↑ passed it on',
    '│ │ │ step 0',
    `│ │ │ │ ✗ ${error} (tried again after 20 ms)`,
    '│ │ │ │ a ↑ passed it on',
    '│ │ │ │ │ model Model/main',
    `│ │ │ │ │ │ ✗ ${error}`,
    '│ │ │ │ │ │ cache ↑ passed it on',
    '│ │ │ step 1 ↑ passed it on',
    '│ │ │ │ a ↑ passed it on',
    '│ │ │ │ │ model Model/main',
    `│ │ │ │ │ │ ✗ ${error}`,
    '│ │ │ │ │ │ cache ↑ passed it on',
  ]);
});

test('every piece can have a colour; plain text has none', () => {
  const painted = renderTrace(chain('step', '0', { layers: [layer('a', { outcome: 'failed', error: 'no' })] }), {
    paint: (style, text) => `<${style}>${text}</${style}>`,
  });
  expect(painted).toBe(
    [
      '<kind>step</kind> <name>0</name> <time>3.00 ms</time>',
      '│ <name>a</name> <time>own 1.00 ms</time>',
      '│ │ <error>✗ no</error>',
    ].join('\n'),
  );
});

function traced(agentName: string, more: Partial<TurnTrace> = {}): TurnTrace {
  return {
    turnId: `turn-${agentName}`,
    traceId: 'trace',
    spanId: '1111111111111111',
    agentName,
    instanceKey: 'default',
    source: { kind: 'cli', name: 'gdn' },
    startedAt: '2026-01-01T00:00:01.000Z',
    resumes: 0,
    chain: inTurn(chain('turn', agentName)),
    missing: { chains: 0, lines: 0, isCut: false },
    ...more,
  };
}

function inTurn({ inside, ...own }: ChainRecord, called: readonly TurnTrace[] = []): ChainRecord {
  return { ...own, inside: inside.map((each) => inTurn(each)), called };
}

test('turns of called agents are where they began, with their instance unless it is the default', () => {
  const inside = [chain('model', 'before', { startMs: 0 }), chain('model', 'after', { startMs: 900 })];
  const called = traced('guest', { instanceKey: 'room 7', startedAt: '2026-01-01T00:00:01.500Z' });
  const turn = traced('host', { chain: inTurn(chain('turn', 'host', { inside }), [called]) });
  expect(linesOf(turn)).toEqual([
    'turn host 3.00 ms',
    '│ model before 3.00 ms',
    '│ turn guest (room 7) 3.00 ms',
    '│ model after 3.00 ms',
  ]);
});

test('the tokens of every turn are shown, and apart if it called agents', () => {
  const usage = { inputTokens: 30, outputTokens: 4, totalTokens: 34 };
  const part = { inputTokens: 10, outputTokens: 1, totalTokens: 11 };
  const called = traced('guest', { usage: part });
  const turn = traced('host', { usage, called: part, chain: inTurn(chain('turn', 'host'), [called]) });
  expect(linesOf(turn)).toEqual([
    'turn host 3.00 ms',
    '│ … 30 → 4 tokens: own 20 → 3, called agents 10 → 1',
    '│ turn guest 3.00 ms',
    '│ │ … 10 → 1 tokens',
  ]);
});

test('cancelled parts are grey; of failed parts, those that show the error are red', () => {
  const error = 'E_CANCELLED: no more';
  const paint = (style: string, text: string) => (style === 'error' ? `red(${text})` : text);
  const tree = (fault: string) => {
    const step = chain('step', '0', { error: fault, layers: [layer('slow', { outcome: 'failed', error: fault })] });
    const turn = traced('host', {
      error: fault,
      chain: inTurn(chain('turn', 'host', { error: fault, inside: [step] })),
    });
    return linesOf(assembleTrace([turn])[0] ?? turn, { paint });
  };
  expect(tree(error)).toEqual([
    'turn host 3.00 ms',
    `│ ✗ ${error}`,
    '│ step 0 3.00 ms',
    `│ │ ✗ ${error}`,
    '│ │ slow own 1.00 ms ↑ passed it on',
  ]);
  expect(tree('busy')).toEqual([
    'turn host 3.00 ms',
    '│ red(✗ busy)',
    '│ step 0 3.00 ms',
    '│ │ red(✗ busy)',
    '│ │ slow own 1.00 ms ↑ passed it on',
  ]);
});

test('a turn that ended before its first layer has its duration, and is not unfinished', () => {
  const ended = {
    error: 'E_DEAD_LETTER: given up',
    durationMs: 5,
    chain: inTurn(chain('turn', 'host', { isUnfinished: true })),
  };
  expect(linesOf(traced('host', ended))).toEqual(['turn host 5.00 ms', '│ ✗ E_DEAD_LETTER: given up']);
  const { durationMs: _ended, ...running } = traced('host', { chain: ended.chain });
  expect(renderTrace(running)).toBe('turn host unfinished');
});

test('missing records are named: the end, runs before a crash, records over a limit', () => {
  const turn = traced('host', {
    resumes: 2,
    missing: { chains: 3, lines: 4, isCut: true },
    error: 'E_CANCELLED: no more',
    chain: inTurn(
      chain('turn', 'host', {
        layersMore: 7,
        layers: [layer('slow', { outcome: 'running', isCut: true })],
        inside: [chain('step', '0', { isUnfinished: true }), chain('step', '1', { error: 'busy', retryMs: 20 })],
      }),
    ),
  });
  expect(linesOf(turn).slice(1)).toEqual([
    '│ ✗ E_CANCELLED: no more',
    '│ … was interrupted 2 times, and went on: records that were not written before are missing',
    '│ … its file reached the size limit: later records are missing',
    '│ … 4 records are missing or damaged',
    '│ … 3 more chains, not recorded',
    '│ slow own 1.00 ms',
    '│ │ … more changes, not recorded',
    '│ │ … was running',
    '│ │ … 7 more layers, not recorded',
    '│ │ step 0 unfinished',
    '│ │ step 1 3.00 ms',
    '│ │ │ ✗ busy (tried again after 20 ms)',
  ]);
});

test('the full form shows values line by line, messages, the input of calls, and tokens', () => {
  const busy = layer('busy', {
    changed: [
      { path: 'args.text', before: 'one', after: 'two\nlines' },
      { path: '', after: 'x'.repeat(300) },
    ],
    emitted: ['append system a'],
    messages: [{ path: 'a', after: 'be kind' }],
  });
  const call = chain('toolCall', 'echo__say', { layers: [busy], input: '{"text":"one"}', outcome: 'ok' });
  expect(linesOf(call, { isFull: true })).toEqual([
    'toolCall echo__say 3.00 ms {"text":"one"} ok',
    '│ busy own 1.00 ms',
    '│ │ ~ args.text',
    '│ │     − one',
    '│ │     + two',
    '│ │     + lines',
    '│ │ ~ all of it',
    `│ │     + ${'x'.repeat(300)}`,
    '│ │ + append system a',
    '│ │ » a',
    '│ │     + be kind',
  ]);
  const model = chain('model', 'Model/m', { outcome: 'stop', tokens: { input: 12, output: 3 } });
  expect(renderTrace(model, { isFull: true })).toBe('model Model/m 3.00 ms stop 12 → 3 tokens');
  expect(renderTrace(model)).toBe('model Model/m 3.00 ms, 12 → 3 tokens');
});

test.each([false, true])(
  'control characters of a model or a tool do not reach the terminal (in full: %p)',
  (isFull) => {
    const evil = 'a\u001b]0;x\u0007\u202e\r\n\u0085b';
    const changes = [{ path: evil, before: evil, after: evil }];
    const busy = layer(evil, {
      name: evil,
      changed: changes,
      resultChanged: changes,
      messages: changes,
      emitted: [evil],
      outcome: 'failed',
      error: evil,
      isBeforeNext: true,
    });
    const text = renderTrace(chain('toolCall', evil, { layers: [busy], error: evil, input: evil, outcome: evil }), {
      isFull,
    });
    expect(text.replaceAll('\n', '')).toMatch(/^[^\p{Cc}\p{Cf}]*$/u);
    // Short values stay on one line.
    if (!isFull) expect(text.split('\n')).toHaveLength(6);
  },
);

test('a turn shows its servers: a plain line, or the problem with the last lines they printed', () => {
  const turn = traced('coder', {
    extensions: [
      { ...status, extension: 'web', state: 'connected', tools: ['web__get', 'web__post'] },
      { ...status, extension: 'files', state: 'failed', problem: 'It said: bye', lines: ['bad token', 'bye'] },
    ],
  });
  expect(linesOf(turn).slice(1)).toEqual([
    '│ ⇄ web: connected since 2026-01-01, 2 tools',
    '│ ✗ files: failed since 2026-01-01: It said: bye',
    '│   bad token',
  ]);
});

const status = { agentName: 'coder', instanceKey: 'default', timestamp: '2026-01-01', since: '2026-01-01' };

test('message events show the first words of their messages, and ids only of unknown messages', () => {
  const uuid = '1f3a9c2b-0000-4000-8000-000000000000';
  const notes = layer('notes', {
    emitted: [`append system ${uuid}`, `replace ${uuid}`, `append user b`, `remove turn-event-${uuid}.step-0.reply`],
    messages: [
      { path: uuid, after: 'Be\nkind.' },
      { path: uuid, after: 'Be very kind.' },
      { path: 'b', after: '[{"type":"text","text":"Look"},{"type":"text","text":"here"}]' },
    ],
  });
  const tidy = layer('tidy', { emitted: [`remove ${uuid}`, 'truncate'] });
  const turn = chain('turn', 'host', { layers: [notes], inside: [chain('step', '0', { layers: [tidy] })] });
  expect(linesOf(turn).slice(2)).toEqual([
    '│ │ + append system: Be kind.',
    '│ │ + replace: Be very kind.',
    '│ │ + append user: Look here',
    '│ │ + remove 1f3a9c2b.step-0.reply',
    '│ │ step 0 3.00 ms',
    '│ │ │ tidy own 1.00 ms',
    '│ │ │ │ + remove: Be very kind.',
    '│ │ │ │ + truncate',
  ]);
});

test('a content without words is shown as it is recorded, and a blank one by the id of its message', () => {
  const image = '[{"type":"text","text":"Look"},{"type":"image"}]';
  const cut = '[{"type":"text","text":"Lo…';
  const notes = layer('notes', {
    emitted: ['append user a', 'append user b', 'append user c'],
    messages: [
      { path: 'a', after: image },
      { path: 'b', after: cut },
      { path: 'c', after: ' \n' },
    ],
  });
  expect(linesOf(chain('turn', 'host', { layers: [notes] })).slice(2)).toEqual([
    `│ │ + append user: ${image}`,
    `│ │ + append user: ${cut}`,
    '│ │ + append user c',
  ]);
});

test('a called turn shows the words of its own messages', () => {
  const say = (words: string) =>
    layer('notes', { emitted: ['append system a'], messages: [{ path: 'a', after: words }] });
  const tidy = (inside: readonly ChainRecord[] = []) =>
    chain('step', '0', { layers: [layer('tidy', { emitted: ['remove a'] })], inside: [...inside] });
  const guest = traced('guest', {
    chain: inTurn(chain('turn', 'guest', { layers: [say('Be quick.')], inside: [tidy()] })),
  });
  const own = chain('turn', 'host', { layers: [say('Be kind.')], inside: [tidy()] });
  const host = traced('host', { chain: inTurn(own, [guest]) });
  const removed = renderTrace(host)
    .split('\n')
    .filter((each) => each.includes('remove'));
  expect(removed.map((each) => each.replace(/^[│ ]+/, ''))).toEqual(['+ remove: Be kind.', '+ remove: Be quick.']);
});

test('a turn shows its duration with the runs before a crash, as the list of turns does', () => {
  expect(renderTrace(traced('host', { durationMs: 9_000 }))).toBe('turn host 9.0 s');
});

test('the arguments of a tool call are cut to the line', () => {
  const call = chain('toolCall', 'echo__say', { input: '{"text":"one two three"}', outcome: 'ok' });
  const step = chain('step', '0', { inside: [call] });
  const fit = (start: string, text: string) => text.slice(0, Math.max(0, 40 - start.length));
  expect(linesOf(step, { fit })[1]).toBe('│ toolCall echo__say 3.00 ms {"text":"on');
  expect(linesOf(step)[1]).toBe('│ toolCall echo__say 3.00 ms {"text":"one two three"}');
  expect(linesOf(step, { fit: () => '' })[1]).toBe('│ toolCall echo__say 3.00 ms');
});

test('durations are short, and the time waited for a person is apart', () => {
  const asking = layer('approval', { ownMs: 0.94, waitedMs: 12_000, answers: [{ decision: 'denied', by: 'bob' }] });
  const call = chain('toolCall', 'shop__buy', { totalMs: 16_028, layers: [asking] });
  expect(linesOf(call)).toEqual([
    'toolCall shop__buy 16.0 s',
    '│ approval own 0.94 ms, waited for a person 12.0 s, denied by bob',
  ]);
});

test('the trace names the person who changed the arguments, their door, and the answer that is always valid', () => {
  const answers = [
    { decision: 'approved', by: 'ann', via: 'studio', args: { apples: 2 }, question: '3fa9c1d2' },
    { decision: 'approved', by: 'bob', grant: '9b1e44c0' },
  ] as const;
  const call = chain('toolCall', 'shop__buy', { layers: [layer('approval', { ownMs: 1, waitedMs: 2, answers })] });
  expect(renderTrace(call)).toContain(
    'approved by ann via studio with other arguments (3fa9c1d2): {"apples":2}, always allowed by bob (9b1e44c0)',
  );
  // Nobody was asked.
  const allowed = layer('approval', { ownMs: 1, waitedMs: 2, answers: answers.slice(1) });
  expect(renderTrace(chain('toolCall', 'shop__buy', { layers: [allowed] }))).toContain(
    'approval own 1.00 ms, always allowed by bob (9b1e44c0)',
  );
});

test('N-04 the trace of a tool that asks names the wait, the person and the door, with every character visible', () => {
  const answers = [
    { kind: 'form', decision: 'approved', by: 'ann\u202e', via: 'chat' },
    { kind: 'page', decision: 'denied', by: 'bob', via: 'disk', afterMs: 9_000 },
    { decision: 'approved', by: 'eve', via: 'studio' },
  ] as const;
  const asked = chain('toolCall', 'oven__order', { totalMs: 12_003, waitedMs: 12_000, answers, input: '{}' });
  expect(renderTrace(asked)).toBe(
    'toolCall oven__order 12.0 s, waited for a person 12.0 s, answered by ann\\u202e via chat, declined by bob via disk after 9.0 s, approved by eve via studio {}',
  );
  const open = chain('toolCall', 'oven__order', { isUnfinished: true, askedMs: 2_000 });
  expect(renderTrace(open)).toBe('toolCall oven__order unfinished, asked a person at 1970-01-01T00:00:02.000Z');
});

test('Y-06 a model call has the name of the model that answered, and a step that is tried again at once says so', () => {
  const request = { modelRef: 'Model/spare', params: {}, tools: {}, messages: { count: 1, digest: 'd', shown: {} } };
  const call = chain('model', 'Model/main', { request });
  const failed = chain('step', '0', { error: 'busy', retryMs: 0, inside: [chain('model', 'Model/main')] });
  expect(renderTrace(call)).toBe('model Model/spare instead of Model/main 3.00 ms');
  expect(linesOf(failed)).toEqual(['step 0 3.00 ms', '│ ✗ busy (tried again at once)', '│ model Model/main 3.00 ms']);
});

test('Y-07 the wait of a model call for a limit is shown, while it waits and later', () => {
  const limitWait = { limit: 'concurrent: 1 of Model/m', startMs: 2_000 };
  const waiting = chain('model', 'Model/m', { limitWait, isUnfinished: true });
  const turn = traced('host', {
    startedAt: '2026-01-02T03:04:05.000Z',
    chain: chain('turn', 'host', { inside: [waiting] }),
  });
  expect(linesOf(turn)[1]).toBe(
    '│ model Model/m unfinished, waiting for concurrent: 1 of Model/m since 2026-01-02T03:04:07.000Z',
  );
  expect(renderTrace(chain('model', 'Model/m', { limitMs: 1_500 }))).toBe(
    'model Model/m 3.00 ms, waited 1.5 s for a limit',
  );
});

test('an event in the name of another extension is shown with this extension', () => {
  const messages = [{ path: 'a', after: 'be kind' }];
  const host = layer('host', {
    emitted: ['append system a (extension guest)', 'truncate (extension guest)'],
    messages,
  });
  expect(linesOf(chain('turn', 'tested', { layers: [host] })).slice(-2)).toEqual([
    '│ │ + append system (extension guest): be kind',
    '│ │ + truncate (extension guest)',
  ]);
});
