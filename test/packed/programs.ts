/** Programs and a bundle, which a test writes into a project in which the tarballs are installed. */

/**
 * A program for Node. For each door it prints the number of names, or the code of the error. Then it prints the codes
 * of calls that do not work in Node.
 */
export const doorsProgram = `
const tell = (work) => work.then((value) => value, (error) => error.code ?? String(error));
const open = (door) => tell(import('@goondan/runtime' + door).then((names) => Object.keys(names).length));
const doors = {};
for (const door of ['', '/bundle', '/control', '/history', '/testing', '/internal']) doors[door] = await open(door);

const { startAgent, startSwarm } = await import('@goondan/runtime');
const { scriptedAgent } = await import('@goondan/runtime/testing');
const { loadBundle, resolveSwarm } = await import('@goondan/runtime/bundle');
const { durableStore, readHistory, readRecording, replayRecording } = await import('@goondan/runtime/history');
const resolved = resolveSwarm(await loadBundle('shop', { environment: {} }), { environment: {} });
const refused = {
  scriptedAgent: await tell(scriptedAgent()),
  startAgent: await tell(startAgent({})),
  readPlan: await tell(startSwarm({ ...resolved.plan, readPlan: async () => resolved.plan })),
  resolved: await tell(startSwarm(resolved)),
};

const place = { stateRoot: process.env.GOONDAN_STATE_ROOT, workspaceId: resolved.workspaceId };
const store = await durableStore(place);
const { turns } = await readHistory(store, { agentName: 'clerk', instanceKey: 'default' });
const { steps, divergence } = await replayRecording({ plan: resolved.plan, kept: await readRecording(place, store) });
await store.close();
console.log(JSON.stringify({ doors, refused, turns: turns.length, steps, divergence }));
`;

/**
 * A program for Node. It loads the package of every model provider, and prints their names. Then it prints whether the
 * body of a request, built again, is the one that was sent.
 */
export const providersProgram = `
import { providers } from './node_modules/@goondan/runtime/lib/agent/model/providers/provider-table.js';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { openStoreReader, readPrompts } from '@goondan/runtime/history';

for (const { load, loadMostTokens, loadTakesSchema } of Object.values(providers)) {
  console.log((await load()).package.replace(/@[0-9.]+$/, ''));
  await loadMostTokens?.('model');
  await loadTakesSchema?.('model');
}
const { workspaceId } = resolveSwarm(await loadBundle('with-server', { environment: {} }), { environment: {} });
const reader = openStoreReader({ stateRoot: process.env.GOONDAN_STATE_ROOT, workspaceId });
const { calls } = await readPrompts(reader);
await reader.close();
console.log(calls.map(({ isExact }) => isExact));
`;

/**
 * A program for Node. It starts the swarm of `shop`, asks for a sale, prints that the sale waits for approval, and
 * keeps waiting.
 */
export const waitingProgram = `
import { startSwarm } from '@goondan/runtime';

const swarm = await startSwarm({ bundleFolder: 'shop' });
await swarm.watch({ types: ['question'] }, ({ state }) => console.log(state));
await swarm.ask({ input: 'Sell 3 apples.' });
`;

/** A program that imports every door, and uses a type from each, for the type checker. */
export const typedProgram = `import { createUserMessage, type ExtensionApi, textOf, type TurnResult } from '@goondan/types';
import { createUserMessage as alias } from '@goondan/core';
import { startSwarm } from '@goondan/runtime';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import type { ControlPlace } from '@goondan/runtime/control';
import type { Journal } from '@goondan/runtime/history';
import type { Clock } from '@goondan/runtime/internal';
import { scriptedAgent } from '@goondan/runtime/testing';
import type {} from '@goondan/base/mcp';
import type {} from '@goondan/cli/studio';

export function register(api: ExtensionApi): void {
  // @ts-expect-error -- there is no such kind: the declarations are not \`any\`
  api.pipeline.register('no-such-kind', () => {});
}

export async function ask(folder: string): Promise<TurnResult> {
  const { plan } = resolveSwarm(await loadBundle(folder, { environment: {} }), { environment: {} });
  const swarm = await startSwarm(plan);
  const { result } = await swarm.ask({ input: 'hello' });
  const text: string = textOf(result.responseMessage);
  // @ts-expect-error -- a text is not a number
  const wrong: number = text;
  return wrong > 0 ? result : (await swarm.ask({ input: text })).result;
}

export const same: typeof createUserMessage = alias;
export type Behind = readonly [ControlPlace, Journal, Clock];
export const say = async () => (await (await scriptedAgent({ script: [] })).say('Hi')).text satisfies string;
`;

export const program = `import { createUserMessage, textOf } from '@goondan/types';
import { createUserMessage as alias } from '@goondan/core';
import { startSwarm } from '@goondan/runtime';
import { loadBundle, resolveSwarm } from '@goondan/runtime/bundle';
import { scriptedAgent } from '@goondan/runtime/testing';

const bundle = await loadBundle('my-swarm', { environment: process.env });
const { plan } = resolveSwarm(bundle, { environment: process.env });
const swarm = await startSwarm({ ...plan, stateRoot: process.env.GOONDAN_STATE_ROOT, bundleFolder: bundle.folder });
const { result } = await swarm.ask({ input: 'hello', instanceKey: 'library' });
console.log(textOf(result.responseMessage));
await swarm.stop();

const agent = await scriptedAgent({ script: [{ say: 'kit: {{input}}' }] });
console.log((await agent.say('Hi')).text);
await agent.close();
console.log(alias === createUserMessage);
`;

/** Prints the path of the Bun that is installed with `gdn`. `npx bun` would work only if an install script had run. */
export const whichBun = `import { findBun } from './node_modules/@goondan/runtime/bin/find-bun.cjs';
process.stdout.write(findBun() ?? '');`;

export const withBase = [
  `kind: Model
metadata: { name: scripted }
spec:
  provider: scripted
  model: demo
  options:
    script:
      - { when: Go, call: { tool: bash__exec, args: { command: echo it works } } }
      - { afterTool: bash__exec, say: '{{result}}' }`,
  `kind: Agent
metadata: { name: host }
spec:
  modelConfig: { modelRef: Model/scripted }
  tools: [{ kind: Tool, name: bash, package: '@goondan/base' }]`,
  `kind: Swarm
metadata: { name: default }
spec: { entryAgent: Agent/host, agents: [Agent/host] }`,
]
  .map((text) => `apiVersion: goondan.ai/v1\n${text}\n`)
  .join('---\n');

/** A bundle with a model of a server that speaks OpenAI's format. */
export const withServer = (endpoint: string) =>
  [
    `kind: Model
metadata: { name: local }
spec: { provider: openai-compatible, model: m, endpoint: ${endpoint} }`,
    `kind: Agent
metadata: { name: host }
spec: { modelConfig: { modelRef: Model/local } }`,
    `kind: Swarm
metadata: { name: default }
spec: { entryAgent: Agent/host, agents: [Agent/host] }`,
  ]
    .map((text) => `apiVersion: goondan.ai/v1\n${text}\n`)
    .join('---\n');

/** The files of a bundle with two extensions for v0.10: one with `compat`, and one that imports the adapter. */
export const withOld: Readonly<Record<string, string>> = {
  'goondan.yaml': [
    `kind: Model
metadata: { name: scripted }
spec: { provider: scripted, model: demo, options: { script: [{ say: 'You said: {{input}}' }] } }`,
    `kind: Extension
metadata: { name: polite }
spec: { entry: ./polite.js, compat: v010 }`,
    `kind: Extension
metadata: { name: loud }
spec: { entry: ./loud.ts }`,
    `kind: Agent
metadata: { name: host }
spec:
  modelConfig: { modelRef: Model/scripted }
  extensions: [Extension/polite, Extension/loud]`,
    `kind: Swarm
metadata: { name: default }
spec: { entryAgent: Agent/host, agents: [Agent/host] }`,
  ]
    .map((text) => `apiVersion: goondan.ai/v1\n${text}\n`)
    .join('---\n'),
  'polite.js': `export function register(api) {
  api.pipelines.mutate('turn.pre', (ctx) => ({ ...ctx, turn: { ...ctx.turn, input: ctx.turn.input + ', please' } }));
}
`,
  'loud.ts': `import { v010 } from '@goondan/v010';
export const register = v010(({ pipelines }) => {
  pipelines.mutate('turn.pre', (ctx) => ({ ...ctx, turn: { ...ctx.turn, input: ctx.turn.input.toUpperCase() } }));
});
`,
};
