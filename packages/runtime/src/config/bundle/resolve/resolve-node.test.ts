import { describe, expect, test } from 'bun:test';
import { temporaryBundle } from '../../../testing/temporary-bundle.ts';
import { loadBundle } from '../load-bundle.ts';
import { resolveSwarm, type ResolveOptions } from './resolve-swarm.ts';

const head = (kind: string, name: string) => `apiVersion: goondan.ai/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;
const script = 'spec: { provider: scripted, model: m, options: { script: [{ say: hi }] } }\n';
const documents = (...texts: string[]) => texts.join('---\n');
const agent = (spec: string) => `${head('Agent', 'a')}spec: ${spec}\n`;
async function resolve(files: Record<string, string>, options: Partial<ResolveOptions> = {}) {
  using bundle = temporaryBundle(files);
  const environment = options.environment ?? {};
  return resolveSwarm(await loadBundle(bundle.folder, { environment }), { ...options, environment });
}

async function refusal(files: Record<string, string>, options: Partial<ResolveOptions> = {}): Promise<unknown> {
  return resolve(files, options).catch((error: unknown) => error);
}

describe('a swarm for one of many nodes', () => {
  test('S-09 marks an agent with missing values, and needs one agent without', async () => {
    const keyed = (name: string) =>
      `${head('Model', name)}spec: { provider: anthropic, model: m, apiKey: { valueFrom: { env: KEY } } }\n`;
    const other = (model: string) => `${head('Agent', 'b')}spec: { modelConfig: { modelRef: Model/${model} } }\n`;
    const both = `${head('Swarm', 'default')}spec: { entryAgent: Agent/a, agents: [Agent/a, Agent/b] }\n`;
    const bundle = (model: string) => ({
      'goondan.yaml': documents(
        `${head('Model', 'm')}${script}`,
        keyed('k'),
        agent('{ modelConfig: { modelRef: Model/k } }'),
        other(model),
        both,
      ),
    });
    const { plan } = await resolve(bundle('m'), { isNode: true });
    expect(plan.agents.map(({ agentName, missing }) => [agentName, missing])).toEqual([
      ['a', ['KEY (Model/k)']],
      ['b', undefined],
    ]);
    expect(await refusal(bundle('m'))).toMatchObject({ code: 'E_ENV_MISSING' });
    expect(await refusal(bundle('k'), { isNode: true })).toMatchObject({ code: 'E_ENV_MISSING' });
    const whole = await resolve(bundle('k'), { isNode: true, environment: { KEY: 'secret' } });
    expect(whole.plan.agents.map(({ missing }) => missing)).toEqual([undefined, undefined]);
  });
});
