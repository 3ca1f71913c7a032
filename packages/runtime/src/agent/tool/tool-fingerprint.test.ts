import { expect, test } from 'bun:test';
import { maskSecrets, noSecrets } from '../../log/mask-secrets.ts';
import { extension, fakeApprover, scriptedAgent } from '../../testing/index.ts';
import { beforeNext } from '../../testing/one-layer.ts';
import { loadTool } from './load-tool.ts';
import { codeOf, toolFingerprint } from './tool-fingerprint.ts';
import { ToolRegistry } from './tool-registry.ts';

const item = { name: 'files__write', description: 'Writes.', parameters: { type: 'object' } } as const;
const provider = { extension: 'files', config: { url: 'https://a.b', token: 'hunter2-hunter2' } };
const base = toolFingerprint({ item, provider }, noSecrets);

test.each([
  ['its description', { item: { ...item, description: 'Writes! ' }, provider }],
  ['its schema', { item: { ...item, parameters: { type: 'object', required: ['a'] } }, provider }],
  ['its annotations', { item: { ...item, annotations: { readOnly: true } }, provider }],
  ['its server', { item, provider: { ...provider, config: { ...provider.config, url: 'https://c.d' } } }],
  ['the name of its server', { item, provider: { ...provider, extension: 'docs' } }],
  ['its code', { item, provider: { ...provider, digest: 'new' } }],
])('a tool has another fingerprint if %s changes', (_, changed) => {
  expect(toolFingerprint(changed, noSecrets)).not.toBe(base);
});

test('a new token of a server, or another folder of the bundle, is the same tool; other code is not', () => {
  const masked = (token: string) => {
    const config = { ...provider.config, token };
    return toolFingerprint({ item, provider: { ...provider, config } }, maskSecrets([token]));
  };
  expect(masked('hunter2-hunter2')).toBe(masked('correct-horse-battery'));
  const entry = './a.ts';
  expect(codeOf({ root: '/one/bundle', entry })).toEqual(codeOf({ root: '/two', entry }));
  expect(codeOf({ entry, digest: 'one' })).not.toEqual(codeOf({ entry, digest: 'two' }));
  expect(codeOf({ root: '/x/node_modules/@goondan/base', entry })).toEqual({ entry, package: '@goondan/base' });
});

test('a question has the fingerprint of the tool as it is registered now, with its server', async () => {
  const approver = fakeApprover(() => ({ decision: 'denied' }));
  const asking = beforeNext('asking', 'toolCall', (ctx) => ctx.approval.ask({ reason: 'May it?' }));
  const fingerprintWith = async (server: string, config = {}) => {
    const offering = extension(
      'offering',
      ({ tools }) => tools.register({ name: 'a__b', description: 'Does.', parameters: {} }, () => null, { server }),
      { config },
    );
    const script = [{ when: 'go', call: { tool: 'a__b' } }, { say: 'done' }];
    const agent = await scriptedAgent({ script, extensions: [offering, asking], approver });
    await agent.say('go');
    return approver.questions.at(-1)?.fingerprint;
  };
  const first = await fingerprintWith('one');
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(await fingerprintWith('one')).toBe(first);
  expect(await fingerprintWith('two')).not.toBe(first);
  expect(await fingerprintWith('one', { url: 'x' })).not.toBe(first);
});

test('a declared tool has another fingerprint if its code or its config changes', async () => {
  const fingerprintWith = async (digest: string, config = {}) => {
    const registry = new ToolRegistry();
    const exports = [{ name: 'write', description: 'Writes.' }];
    await loadTool({ name: 'files', exports, handlers: { write: () => null }, digest, config }, registry);
    const tool = registry.get('files__write');
    return tool && toolFingerprint(tool, noSecrets);
  };
  const first = await fingerprintWith('one', { folder: 'a' });
  expect(await fingerprintWith('one', { folder: 'a' })).toBe(first);
  expect(await fingerprintWith('one', { folder: '/' })).not.toBe(first);
  expect(await fingerprintWith('two', { folder: 'a' })).not.toBe(first);
});
