// With real processes: the bundled runner, started as the orchestrator starts it, on a real disk.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentEvent, JsonObject, TurnResult } from '@goondan/types';
import type { AgentStart } from '../config/agent-start.ts';
import { agentLanguage } from '../ipc/codec.ts';
import type { FromAgent } from '../ipc/from-agent.ts';
import { killTagged } from '../orchestrator/guardian/kill-tagged.ts';
import { newTag } from '../orchestrator/guardian/process-tag.ts';
import { agentRunner } from '../orchestrator/runner-path.ts';
import { spawnChild } from '../orchestrator/spawn-child.ts';
import { durableStore } from '../workspace/durable-store.ts';
import { textOf } from './conversation/text-of.ts';

const runTag = newTag('GOONDAN_RUN');
let folder: string;

beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'agent-main-')));
});
afterAll(async () => {
  expect((await killTagged(runTag)).ended).toEqual([]);
  rmSync(folder, { recursive: true });
});

type Kind = FromAgent['type'];
type Of<Type extends Kind> = Extract<FromAgent, { readonly type: Type }>;

/** A process of the bundled runner, and everything it says. */
function launch() {
  const cwd = join(folder, crypto.randomUUID());
  mkdirSync(cwd);
  const frameFolder = join(folder, crypto.randomUUID());
  const request = { name: 'agent a/default', runner: agentRunner, cwd, frameFolder };
  const child = spawnChild({ runTag }, agentLanguage, request);
  const said: FromAgent[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  child.channel.onMessage((message) => {
    said.push(message);
    wake();
  });
  void child.exited.then(wake);

  /** The next message of that kind, after the ones that were already asked for. */
  const asked = new Map<Kind, number>();
  function next<Type extends Kind>(type: Type): Promise<Of<Type>> {
    const index = asked.get(type) ?? 0;
    asked.set(type, index + 1);
    return new Promise((resolve, reject) => {
      const look = () => {
        // Filtered by its type.
        const found = said.filter((message) => message.type === type)[index] as Of<Type> | undefined;
        if (found === undefined && !child.channel.isClosed) return;
        waiting.delete(look);
        if (found !== undefined) return resolve(found);
        const output = child.recentOutput().map((each) => ('text' in each ? each.text : ''));
        reject(new Error(`It said no "${type}": ${JSON.stringify(said)} ${output.join('\n')}`));
      };
      waiting.add(look);
      child.channel.onClose(look);
      look();
    });
  }
  const { channel, exited } = child;
  return { child, cwd, channel, exited, said, next, send: channel.send.bind(channel) };
}

interface Plan {
  readonly agent?: Partial<AgentStart['agent']>;
  readonly key?: string;
  readonly cwd: string;
}

function plan({ agent = {}, key = 'default', cwd }: Plan): JsonObject {
  const start: AgentStart = {
    address: { agentName: 'tester', instanceKey: key },
    agent: { agentName: 'tester', models: scripted([{ say: 'You said: {{input}}' }]), ...agent },
    agents: [{ name: 'tester' }, { name: 'other' }],
    store: { stateRoot: join(folder, 'state'), workspaceId: 'main-test' },
    cwd,
  };
  // It is JSON, as its header says.
  return start as unknown as JsonObject;
}

function scripted(script: JsonObject[]): AgentStart['agent']['models'] {
  return { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } };
}

function event(id: string, key = 'default'): AgentEvent {
  return {
    id,
    type: 'user.message',
    input: `hello ${id}`,
    instanceKey: key,
    source: { kind: 'cli', name: 'test' },
    traceId: 'trace',
    createdAt: new Date(0),
  };
}

const answerOf = ({ responseMessage }: TurnResult) => textOf(responseMessage);

/** A module of a bundle with no `node_modules` anywhere near. */
function extension(source: string, name = 'ext') {
  const root = join(folder, crypto.randomUUID());
  mkdirSync(root);
  writeFileSync(join(root, 'index.ts'), source);
  const resource = {
    apiVersion: 'goondan.ai/v1',
    kind: 'Extension' as const,
    metadata: { name },
    spec: { entry: './index.ts' },
  };
  return { resource, root };
}

describe('an agent in its own process', () => {
  test('R-02 becomes the agent it is told to be, and answers turn after turn', async () => {
    const agent = launch();
    await agent.send({ type: 'start', plan: plan({ cwd: agent.cwd }) });
    expect(await agent.next('ready')).toEqual({ type: 'ready', extensions: [], layers: [], tools: [] });
    for (const id of ['one', 'two']) {
      await agent.send({ type: 'turn', event: event(id), seq: 1 });
      const { eventId, result, stepCount, usage } = await agent.next('turn.done');
      expect({ eventId, stepCount, answer: answerOf(result) }).toEqual({
        eventId: id,
        stepCount: 1,
        answer: `You said: hello ${id}`,
      });
      expect(usage.totalTokens).toBeGreaterThan(0);
    }
    await agent.send({ type: 'drain', graceMs: 5_000 });
    await agent.next('drained');
    expect(await agent.exited).toMatchObject({ code: 0, signal: null });
    const journal = await durableStore({ stateRoot: join(folder, 'state'), workspaceId: 'main-test' });
    const { messages } = await journal.read({ agentName: 'tester', instanceKey: 'default' });
    expect(messages).toHaveLength(4);
  });
});
