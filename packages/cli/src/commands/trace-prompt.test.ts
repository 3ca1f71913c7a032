// Tests `gdn trace --prompt` with real agents and servers that speak the wire formats of providers.
import { describe, expect, test } from 'bun:test';
import type { TurnPrompts } from '@goondan/runtime/history';
import { sampledCases } from '../../../../test/samples.ts';
import { providerCases } from '../../../runtime/src/agent/model/providers/wire/provider-cases.ts';
import { startWireServer } from '../../../runtime/src/agent/model/providers/wire/wire-server.ts';
import { openPlace, outputOf, refusal } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';

const place = openPlace();

const gdn = (...args: string[]) => place.run(...args, '--bundle', 'bundle');
const key = 'sk-canary-0123456789abcdef';

/** A layer of each kind that changes the request, and a call of its own. */
const guard = `
  export function register(api) {
    api.pipeline.register('turn', async (ctx) => {
      await ctx.model.generate({ messages: [{ role: 'user', content: 'Is it safe?' }], params: { temperature: 0 } });
      return ctx.next();
    });
    api.pipeline.register('step', (ctx) => {
      ctx.toolCatalog = ctx.toolCatalog.map((tool) => ({ ...tool, description: 'Only for ' + ctx.stepIndex + '.' }));
      return ctx.next();
    });
    api.pipeline.register('model', (ctx) => {
      ctx.messages.push({ role: 'user', content: 'The key is ${key}. Call ' + ctx.stepIndex + '.' });
      ctx.params = { ...ctx.params, temperature: 0.5 };
      return ctx.next();
    });
  }`;

describe.each(sampledCases(providerCases, 4))('%s', (_name, provider) => {
  test('V-01 shows the body that the server got, after the swarm has stopped', async () => {
    await using server = startWireServer(provider.dialect);
    const usage = { input: 10, output: 5, cached: 2 };
    const calls = [{ id: 'call-1', name: 'agents__list', args: {} }];
    const said = (text: string) => ({ reply: { usage, text: [text] } });
    server.answer(said('Yes.'), { reply: { usage, calls } }, said('Nobody is here.'));
    const more = [
      `kind: Model\nmetadata: { name: real }\nspec:\n  provider: ${provider.provider}\n  model: ${provider.model}\n  endpoint: ${server.url}/v1\n  apiKey: ${key}\n  params: { maxTokens: 321 }\n  options: { stream: false }`,
      'kind: Extension\nmetadata: { name: guard }\nspec: { entry: ./guard.ts }',
    ].join('\n---\napiVersion: goondan.ai/v1\n');
    const agent = 'tools: [Tool/agents]\nextensions: [Extension/guard]\nprompt: { system: Be brief. }';
    const yaml = sampleBundle({ agent, more }).replace('modelRef: Model/scripted', 'modelRef: Model/real');
    await place.write('bundle', { 'goondan.yaml': yaml, 'guard.ts': guard });
    const ran = await gdn('run', '--trust', '--input', 'Who is there?', '--json');
    expect(ran).toMatchObject({ exitCode: 0 });

    const stdout = outputOf(await gdn('trace', '--prompt', '--json'));
    const { calls: shown } = JSON.parse(stdout) as TurnPrompts;
    expect(shown.map(({ isExact, body }) => [isExact, JSON.stringify(body)])).toEqual(
      server.requests.map(({ body }) => [true, JSON.stringify(body)]),
    );
    expect(shown.map(({ step, by }) => [step, by?.extension])).toEqual([
      [undefined, 'guard'],
      [0, undefined],
      [1, undefined],
    ]);
    expect(shown[2]?.reply).toMatchObject({ content: [{ type: 'text', text: 'Nobody is here.' }] });

    const text = await gdn('trace', 'last', '--prompt', '1', '--full');
    expect(text.exitCode).toBe(0);
    expect(text.stdout).toContain('\nexact  the body that @ai-sdk/');
    expect(text.stdout).toContain('\nsystem  system prompt of agent host\n    Be brief.\n');
    expect(text.stdout).toContain('\nuser  person via cli\n    Who is there?\n');
    expect(text.stdout).toContain('\nuser  extension guard (model layer)\n    The key is ***. Call 1.\n');
    expect(text.stdout).toContain(
      '\ntool agents__list  Tool/agents, changed by extension guard (step layer)\n    Only for 1.\n',
    );
    expect(text.stdout).toContain('\nparam maxTokens: 321  Model/real\n');
    expect(text.stdout).toContain('\nparam temperature: 0.5  extension guard (model layer)\n');
    expect(text.stdout).toMatch(/\nreply {2}stop, 10 → 5 tokens.*\n {4}Nobody is here\.\n$/);
    expect(`${text.stdout}${stdout}`).not.toContain('canary');
  });
});

test('wrong steps and options are rejected with a suggestion', async () => {
  await place.write('bundle', { 'goondan.yaml': sampleBundle() });
  await gdn('run', '--trust', '--input', 'Hi');
  const refusals: [args: string[], exitCode: number, stderr: string][] = [
    [['last', '--prompt', '7'], 3, 'E_PROMPT_STEP: Turn '],
    [
      ['--prompt', 'last'],
      2,
      "E_USAGE: option '--prompt [step]' argument 'last' is invalid. It is not the number of a step.",
    ],
    [['last', '--full'], 2, "E_USAGE: option '--full' works only with '--prompt'\n"],
    [['--prompt', '--last', '2'], 2, "E_USAGE: option '--last' works only for the list of turns, without '--prompt'\n"],
    [['x', '--prompt', '--agent', 'host'], 2, "E_USAGE: option '--agent' works only without an id, or with `last`\n"],
    [['--prompt', '--agent', 'nobody'], 3, 'E_TRACE_UNKNOWN: There is no recorded turn of agent "nobody".\n'],
    [['--prompt', '--instance', 'x'], 3, 'E_TRACE_UNKNOWN: There is no recorded turn in conversation "x".\n'],
    [['last', '--prompt', '--diff'], 2, "E_USAGE: option '--prompt [step]' cannot be used with option '--diff'"],
  ];
  for (const [args, exitCode, stderr] of refusals)
    expect(await gdn('trace', ...args), args.join(' ')).toEqual(refusal(exitCode, stderr));
});

test('--prompt with --agent and --instance takes the latest turn of that agent and conversation', async () => {
  await place.write('bundle', { 'goondan.yaml': sampleBundle() });
  const asked = [];
  for (const instance of ['one', 'two']) {
    const { stdout } = await gdn('run', '--trust', '--input', `Hi ${instance}`, '--instance', instance, '--json');
    asked.push((JSON.parse(stdout) as { turnId: string }).turnId);
  }
  const turnOf = async (...more: string[]) => {
    const { stdout } = await gdn('trace', '--prompt', '--json', ...more);
    return (JSON.parse(stdout) as TurnPrompts).turn.turnId;
  };
  expect([await turnOf('--instance', 'one'), await turnOf('--agent', 'host')]).toEqual(asked);
});
