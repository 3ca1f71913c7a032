import { expect, test } from 'bun:test';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { maskSecrets, noSecrets } from '../log/mask-secrets.ts';
import { temporaryBundle } from '../testing/temporary-bundle.ts';
import { agentDigest } from './agent-digest.ts';
import { loadBundle } from './bundle/load-bundle.ts';
import { resolveSwarm } from './bundle/resolve/resolve-swarm.ts';

const resources = `
apiVersion: goondan.ai/v1
kind: Model
metadata: { name: m }
spec: { provider: scripted, model: m, options: { script: [{ say: Hello. }] } }
---
apiVersion: goondan.ai/v1
kind: Extension
metadata: { name: own }
spec: { entry: ./own.ts }
---
apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: a }
spec: { modelConfig: { modelRef: Model/m }, extensions: [Extension/own] }
---
apiVersion: goondan.ai/v1
kind: Swarm
metadata: { name: default }
spec: { entryAgent: Agent/a, agents: [Agent/a] }
`;

async function digestOf(folder: string): Promise<string | undefined> {
  const { plan } = resolveSwarm(await loadBundle(folder, { environment: {} }), { environment: {} });
  return agentDigest(plan.agents[0] ?? {}, noSecrets);
}

test('the digest of an agent does not depend on the folder of its bundle, nor on lock files', async () => {
  const code = { 'own.ts': `import './helper.ts';\nexport function register() {}\n`, 'helper.ts': '' };
  using bundle = temporaryBundle({ ...code, 'goondan.yaml': resources, 'package-lock.json': '{"name":"one"}' });
  using other = temporaryBundle({ 'package-lock.json': '' });
  cpSync(bundle.folder, join(other.folder, 'copy'), { recursive: true });
  using edited = temporaryBundle({ ...code, 'goondan.yaml': resources, 'helper.ts': 'console.log(1);' });
  const digest = await digestOf(bundle.folder);
  expect(digest).toBeString();
  expect(await digestOf(join(other.folder, 'copy'))).toBe(digest);
  using unlocked = temporaryBundle({ ...code, 'goondan.yaml': resources });
  expect(await digestOf(unlocked.folder)).toBe(digest);
  expect(await digestOf(edited.folder)).not.toBe(digest);
});

test('L-02 the digest of an agent does not depend on the sockets of its keepers', () => {
  const of = (keeper: object) => agentDigest({ agentName: 'a', extensions: [{ root: '/a', keeper }] }, noSecrets);
  expect(of({ entry: './keep.ts', socket: '/run/k1.sock' })).toBe(of({ entry: './keep.ts' }));
});

test('the digest of an agent does not change with its secrets', () => {
  const of = (secret: string) => agentDigest({ agentName: 'a', systemPrompt: `x ${secret}` }, maskSecrets([secret]));
  expect(of('first-secret')).toBe(of('other-secret'));
});
