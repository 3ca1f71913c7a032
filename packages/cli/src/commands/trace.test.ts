// Tests with real agents: turns in `gdn trace`, with and without a running swarm.
import { expect, test } from 'bun:test';
import type { ReadTrace, TurnSummary } from '@goondan/runtime/history';
import { openPlace, outputOf, refusal } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { until } from '../../../../test/until.ts';

const place = openPlace();

const gdn = (...args: string[]) => place.run(...args, '--bundle', 'bundle');

async function json<Value>(...args: string[]): Promise<Value> {
  const stdout = outputOf(await gdn(...args, '--json'));
  return JSON.parse(stdout) as Value;
}

/** Writes a bundle in which `host` calls `helper`. A layer hides a tool and adds a message with cursor movements. */
async function writeBundle(swarm = ''): Promise<void> {
  const script = [
    `- { when: '^ask', call: { tool: agents__request, args: { target: helper, input: 'Are you there?' } } }`,
    `- { afterTool: agents__request, say: 'It said {{result.response}}' }`,
    `- { say: 'You said: {{input}}' }`,
  ].join('\n');
  const agent = 'tools: [Tool/agents]\nextensions: [Extension/quiet]';
  const more = 'kind: Extension\nmetadata: { name: quiet }\nspec: { entry: ./quiet.ts }';
  await place.write('bundle', {
    'goondan.yaml': sampleBundle({ script, agent, more, swarm, agents: ['helper'] }),
    'quiet.ts': `
      export function register(api) {
        api.pipeline.register('step', (ctx) => {
          ctx.toolCatalog = ctx.toolCatalog.filter(({ name }) => name !== 'agents__send');
          ctx.emitMessageEvent({ type: 'append', message: {
            id: 'note-' + ctx.stepIndex, data: { role: 'system', content: 'one\\n\\u001b[2Jtwo' }, metadata: {},
            createdAt: new Date(), source: { type: 'extension', extensionName: 'quiet' } } });
          return ctx.next();
        });
      }`,
  });
}

const withoutTimes = (text: string) =>
  text.replaceAll(/\d+(?:\.\d+)? m?s\b/g, 'N ms').replaceAll(/\d+ → \d+ tokens/g, 'N → N tokens');

test('R-08 shows a turn and that of the called agent, from two processes; diffs, JSON and Mermaid on request', async () => {
  await writeBundle();
  const { stdout } = await gdn('run', '--trust', '--input', 'ask it', '--json');
  const { turnId, traceId } = JSON.parse(stdout) as { turnId: string; traceId: string };

  const shown = await gdn('trace', turnId);
  const [legend, head, asked, ...tree] = shown.stdout.trimEnd().split('\n');
  expect({ stderr: shown.stderr, exitCode: shown.exitCode }).toEqual({ stderr: '', exitCode: 0 });
  expect(legend).toStartWith('Outer layers hold inner ones.');
  expect(head).toMatch(new RegExp(`^turn [0-9a-f]{8}\\S* of trace ${traceId}, 20`));
  expect(asked).toBe('asked: ask it');
  const expected = [
    'turn host N ms',
    '│ … N → N tokens: own 47 → 23, called agents 4 → 6',
    '│ step 0 N ms',
    '│ │ quiet own N ms',
    '│ │ │ ~ toolCatalog.agents__send removed',
    '│ │ │ + append system: one \\u001b[2Jtwo',
    '│ │ │ model Model/scripted N ms, N → N tokens',
    '│ │ │ toolCall agents__request N ms {"target":"helper","input":"Are you there?"}',
    '│ │ │ │ turn helper N ms',
    '│ │ │ │ │ … N → N tokens',
    '│ │ │ │ │ step 0 N ms',
    '│ │ │ │ │ │ model Model/scripted N ms, N → N tokens',
    '│ step 1 N ms',
    '│ │ quiet own N ms',
    '│ │ │ ~ toolCatalog.agents__send removed',
    '│ │ │ + append system: one \\u001b[2Jtwo',
    '│ │ │ model Model/scripted N ms, N → N tokens',
  ];
  expect(tree.map(withoutTimes)).toEqual(expected);

  // The trace id finds the same turn, and so does the beginning of any of its ids.
  for (const id of [
    'last',
    traceId,
    traceId.slice(0, 9),
    turnId.slice(0, 20),
    turnId.slice('turn-event-'.length).slice(0, 8),
  ])
    expect((await gdn('trace', id)).stdout).toBe(shown.stdout);

  const diff = withoutTimes((await gdn('trace', turnId, '--diff')).stdout);
  expect(diff).toContain('│ │ │     − {"name":"agents__send",');
  expect(diff).toContain('│ │ │ » note-0\n│ │ │     + one\n│ │ │     + \\u001b[2Jtwo\n');
  expect(diff).toContain('toolCall agents__request N ms {"target":"helper","input":"Are you there?"} ok\n');
  expect(diff).not.toContain('\u001b');

  const read = await json<ReadTrace>('trace', turnId);
  expect(read).toMatchObject({ traceId, turns: [{ turnId, agentName: 'host', finishReason: 'text_response' }] });
  const [step] = read.turns[0]?.chain.inside ?? [];
  const [model, call] = step?.inside ?? [];
  expect(step?.plan).toMatch(/^[0-9a-f]{64}$/);
  expect(model?.request).toMatchObject({
    modelRef: 'Model/scripted',
    provider: 'scripted',
    bodyDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    references: { more: [{}, { id: 'note-0' }] },
  });
  expect(call).toMatchObject({ args: { target: 'helper' }, result: { status: 'ok' } });
  expect(call?.called).toMatchObject([{ agentName: 'helper', traceId, parentSpanId: call?.spanId, resumes: 0 }]);

  const { stdout: mermaid } = await gdn('trace', turnId, '--mermaid');
  expect(mermaid).toStartWith('sequenceDiagram\n  participant asker as whoever asked\n  participant p0 as host\n');
  expect(mermaid).toMatch(/p2->>p3: Are you there\?\n {2}activate p3\n/);
  expect(mermaid).toContain('Note over p0: step 0<br/>quiet ');
});

test('without an id it lists the latest turns, with ids that can be typed', async () => {
  await writeBundle();
  expect(await gdn('trace')).toEqual({ stdout: 'There are no recorded turns.\n', stderr: '', exitCode: 0 });
  expect(await json('trace')).toEqual([]);
  await gdn('run', '--trust', '--input', 'ask it');
  await gdn('run', '--trust', '--input', `two\nlines\u001b[2J${'!'.repeat(300)}`, '--instance', 'a/b');

  const turns = await json<TurnSummary[]>('trace');
  expect(turns.map(({ agentName, instanceKey, finishReason }) => [agentName, instanceKey, finishReason])).toEqual([
    ['host', 'a/b', 'text_response'],
    ['helper', 'default', 'text_response'],
    ['host', 'default', 'text_response'],
  ]);
  const { stdout } = await gdn('trace');
  const [heads, ...rows] = stdout.trimEnd().split('\n');
  expect(heads?.split(/ {2,}/)).toEqual(['time', 'agent', 'instance', 'turn', 'took', 'outcome', 'asked']);
  expect(rows).toHaveLength(3);
  expect(rows[0]).toMatch(/two lines␛\[2J!+…$/);
  for (const [index, row] of rows.entries()) {
    expect(row.length).toBeLessThanOrEqual(160);
    const id = row.split(/ {2,}/)[3] ?? '';
    const { turns: shown } = await json<ReadTrace>('trace', id);
    expect(shown.map(({ turnId }) => turnId)).toEqual([turns[index]?.turnId ?? '']);
  }
  const helpers = await json<TurnSummary[]>('trace', '--agent', 'helper');
  expect(helpers.map(({ agentName }) => agentName)).toEqual(['helper']);
  expect(await json<TurnSummary[]>('trace', '--instance', 'a/b', '--last', '1')).toEqual(turns.slice(0, 1));
  const latest = await json<ReadTrace>('trace', 'last', '--agent', 'helper');
  expect(latest.turns.map(({ turnId }) => turnId)).toEqual(helpers.map(({ turnId }) => turnId));
});

test('shows a turn of a running swarm, and a failed turn', async () => {
  await place.write('bundle', { 'goondan.yaml': sampleBundle({ script: `- { fail: { message: 'no' } }` }) });
  await place.serve('bundle');
  expect((await gdn('send', '--input', 'Hi', '--wait')).exitCode).toBe(1);
  const rows = await until(async () => {
    const { stdout } = await gdn('trace');
    return stdout.includes('E_MODEL_FAILED') && stdout;
  });
  const id = (/ ([0-9a-f]{8}[0-9a-f-]*) /.exec(rows) ?? [])[1] ?? '';
  const { stdout } = await gdn('trace', id);
  expect(stdout).toContain('│ ✗ E_MODEL_FAILED');
  await gdn('stop');
});

test.each([
  ['by its bundle', 'policy: { trace: off }', {}],
  ['by its operator', '', { GOONDAN_TRACE: 'off' }],
])('a swarm with tracing off, %s, records nothing', async (_by, swarm, env) => {
  await writeBundle(swarm);
  await place.runWith({ env }, 'run', 'bundle', '--trust', '--input', 'Hi');
  expect((await gdn('trace')).stdout).toBe('There are no recorded turns.\n');
  expect((await gdn('instance', 'show', 'host', 'default')).stdout).toContain('You said: Hi');
});

test('unknown ids and wrong options are rejected with a suggestion', async () => {
  await writeBundle();
  await gdn('run', '--trust', '--input', 'ask it');
  const refusals: [args: string[], exitCode: number, stderr: string][] = [
    [['nothing'], 3, 'E_TRACE_UNKNOWN: Nothing is recorded of a turn or a trace "nothing".\nList the recorded turns'],
    [['turn-'], 3, 'E_TRACE_AMBIGUOUS: "turn-" may be '],
    [['x', '--last', '3'], 2, "E_USAGE: option '--last' works only without an id\n"],
    [['--diff'], 2, "E_USAGE: option '--diff' needs the id of a turn or a trace, or `last`\n"],
    [['--mermaid'], 2, "E_USAGE: option '--mermaid' needs the id of a turn or a trace, or `last`\n"],
    [['x', '--mermaid', '--json'], 2, '{"error":{"code":"E_USAGE",'],
    [['--last', '0'], 2, "E_USAGE: option '--last <number>' argument '0' is invalid."],
  ];
  for (const [args, exitCode, stderr] of refusals)
    expect(await gdn('trace', ...args), args.join(' ')).toEqual(refusal(exitCode, stderr));
});
