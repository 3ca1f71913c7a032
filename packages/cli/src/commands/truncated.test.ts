// Tests with real agents, and local servers whose replies reach their token limit. Every place that shows the answer
// says that it is incomplete.
import { expect, test } from 'bun:test';
import { anthropicWire } from '../../../runtime/src/agent/model/providers/wire/anthropic-wire.ts';
import { openaiWire } from '../../../runtime/src/agent/model/providers/wire/openai-wire.ts';
import { startWireServer, type WireServer } from '../../../runtime/src/agent/model/providers/wire/wire-server.ts';
import type { ConversationView, TurnList, WorkspaceList } from '../studio/contract.ts';
import { openPlace } from '../testing/open-place.ts';
import { noProviders } from '../testing/no-providers.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { StudioPlace } from '../testing/studio-place.ts';

const place = openPlace();

const usage = { input: 20, output: 3, cached: 0 };
const cut = { reply: { text: ['Once ', 'upon'], isTruncated: true, usage } };
const gdn = (...args: string[]) => place.runWith({ env: noProviders }, ...args, '--bundle', 'bundle');
const ask = ['run', '--trust', '--input', 'A story'];
const warning = "warn: The answer reached the model's token limit (params.maxTokens) and is incomplete.\n";

async function writeBundle(provider: string, model: string, server: WireServer): Promise<void> {
  const spec = `provider: ${provider}\n  model: ${model}\n  apiKey: none\n  endpoint: ${server.url}/v1\n`;
  const text = sampleBundle().replace(/provider: scripted\n(?: .*\n)+/, spec);
  await place.write('bundle', { 'goondan.yaml': text });
}

test('Y-09 a reply with finish_reason length: the terminal, --json, trace, history, the log and Studio say so', async () => {
  await using server = startWireServer(openaiWire);
  await writeBundle('openai-compatible', 'tiny', server);
  server.answer(cut);
  expect(await gdn(...ask)).toEqual({ stdout: 'Once upon\n', stderr: warning, exitCode: 0 });
  const told = await gdn(...ask, '--json');
  expect(JSON.parse(told.stdout)).toMatchObject({
    response: 'Once upon',
    finishReason: 'text_response',
    truncated: true,
  });
  expect(told.stderr).toBe(warning);
  // The bundle sets no limit, and this provider does not need one.
  expect(server.requests[0]?.body).not.toHaveProperty('max_tokens');

  const [tree, turnsJson, history, shown, logs] = await Promise.all(
    [
      ['trace', 'last'],
      ['trace', '--json'],
      ['history', 'host', 'default'],
      ['instance', 'show', 'host', 'default'],
      ['logs'],
    ].map(async (args) => (await gdn(...args)).stdout),
  );
  expect(tree).toMatch(/! its answer is truncated\n[^]*! cut off at its limit of tokens\n/);
  expect(JSON.parse(turnsJson ?? '')[0]).toMatchObject({ truncated: true });
  expect(history).toMatch(/answered, truncated\n[^]*Once upon \[truncated\]\n/);
  expect(shown).toEndWith('assistant  Once upon [truncated]\n');
  expect(logs).toContain('reached its token limit (params.maxTokens) and is incomplete');

  const studio = new StudioPlace({ stateRoot: place.stateRoot });
  await studio.enter();
  const { workspaces } = await studio.read<WorkspaceList>('/api/workspaces');
  const at = `/api/workspaces/${workspaces[0]?.workspaceId}`;
  const { turns } = await studio.read<TurnList>(`${at}/turns`);
  expect(turns.map(({ truncated }) => truncated)).toEqual([true, true]);
  const { messages } = await studio.read<ConversationView>(`${at}/conversation?agent=host&instanceKey=default`);
  expect(messages.at(-1)?.message.metadata).toEqual({ 'goondan.truncated': true });
  await studio.remove();
});

test('Y-09 a reply with stop_reason max_tokens; the assumed limit of an unknown model is reported', async () => {
  await using server = startWireServer(anthropicWire);
  await writeBundle('anthropic', 'claude-by-my-proxy', server);
  server.answer(cut);
  const { stdout, stderr, exitCode } = await gdn(...ask, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ response: 'Once upon', truncated: true });
  expect(stderr).toMatch(
    /^warn: host: The output limit of anthropic\/claude-by-my-proxy is not known, .+ `params\.maxTokens` .+\n/,
  );
  expect([stderr.endsWith(warning), exitCode]).toEqual([true, 0]);
  expect(server.requests[0]?.body['max_tokens']).toBe(8_192);
});
