// Tests what an agent notes about the code that runs, with the file that the orchestrator reads.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { ExtensionRegister, MiddlewareKind, ToolHandler } from '@goondan/types';
import { makeCodeFile, noteRunningCode, readBlockedCode } from '../../ipc/running-code.ts';
import { extension } from '../../testing/index.ts';
import { inputEvent } from '../../testing/input-event.ts';
import type { AgentPlan } from './agent-plan.ts';
import { startAgent } from './start-agent.ts';

// Each test has a process's file of its own.
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(`${tmpdir()}/running-code-`);
  makeCodeFile(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const seen: string[] = [];
beforeEach(() => void seen.splice(0));
const words = () => readBlockedCode(folder)?.words ?? 'nothing';
const see = () => void seen.push(words());
const layerOf = (kind: MiddlewareKind, name: string) => `blocked in the ${kind} layer of extension ${name} (index.ts)`;

/** Runs one turn, in which the model calls these tools at once and then answers. */
async function runTurn({ extensions = [], tools = [] }: Partial<AgentPlan>, ...calls: string[]) {
  const calling = { when: 'go', calls: calls.map((tool) => ({ tool, args: {} })) };
  const script = [...(calls.length === 0 ? [] : [calling]), { say: 'done' }];
  const models = { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } };
  const running = noteRunningCode(folder)();
  const agent = await startAgent(
    { agentName: 'clerk', models, extensions, tools },
    { running, logSink: () => undefined },
  );
  const { result } = await agent.handle(inputEvent('a', { input: 'go' }));
  expect(result).toMatchObject({ finishReason: 'text_response' });
  expect(words()).toBe('nothing');
  await agent.close();
}

function toolOf(name: string, handler: ToolHandler, parallel = false) {
  const exports = [{ name: 'run', description: 'Runs.', parallel }];
  return { name, root: '.', entry: `./tools/${name}.ts`, exports, handlers: { run: handler } };
}

test('each layer is named when it begins, and again when its next() has settled', async () => {
  const register: ExtensionRegister = ({ pipeline }) => {
    see();
    for (const kind of ['turn', 'step', 'toolCall', 'model'] as const) {
      // The cast is needed because one function serves all four kinds, but each overload takes one kind.
      pipeline.register(kind as 'turn', async (ctx) => {
        see();
        return ctx.next().finally(see);
      });
    }
  };
  await runTurn({ extensions: [extension('notes', register)], tools: [toolOf('archive', see)] }, 'archive__run');
  const within = (kind: MiddlewareKind, ...inner: string[]) => [
    layerOf(kind, 'notes'),
    ...inner,
    layerOf(kind, 'notes'),
  ];
  const call = within('toolCall', 'blocked in tool archive__run (tools/archive.ts)');
  const steps = [...within('step', ...within('model'), ...call), ...within('step', ...within('model'))];
  expect(seen).toEqual(['blocked while loading index.ts', ...within('turn', ...steps)]);
});

test('a layer whose next() has failed is named again', async () => {
  const outer: ExtensionRegister = ({ pipeline }) =>
    pipeline.register('turn', (ctx) =>
      ctx.next().catch(() => {
        see();
        return { turnId: ctx.turnId, finishReason: 'text_response' };
      }),
    );
  const inner: ExtensionRegister = ({ pipeline }) =>
    pipeline.register('turn', () => {
      throw new Error('no');
    });
  await runTurn({ extensions: [extension('outer', outer), extension('inner', inner)] });
  expect(seen).toEqual([layerOf('turn', 'outer')]);
});

test('what runs inside and after a chain is not named after a layer of it', async () => {
  const register: ExtensionRegister = ({ pipeline, events }) => {
    for (const event of ['step.started', 'step.completed', 'turn.completed'] as const) events.on(event, see);
    pipeline.register('turn', (ctx) => ctx.next());
    pipeline.register('model', (ctx) => ctx.next());
  };
  await runTurn({ extensions: [extension('notes', register)] });
  expect(seen).toEqual(['nothing', 'nothing', 'nothing']);
});

test('what runs after a chain that failed is not named after a layer of it', async () => {
  const register: ExtensionRegister = ({ pipeline, events }) => {
    events.on('step.failed', see);
    let failures = 0;
    pipeline.register('step', (ctx) => {
      if (failures++ > 0) return ctx.next();
      throw Object.assign(new Error('no'), { retryable: true });
    });
  };
  await runTurn({ extensions: [extension('notes', register)] });
  expect(seen).toEqual(['nothing']);
});

test('tools that run at the same time are named together when they wait, and tools of an extension by its file', async () => {
  const slow: ToolHandler = async () => {
    see();
    await Bun.sleep(1);
    see();
  };
  const register: ExtensionRegister = ({ tools }) =>
    tools.register({ name: 'notes__read', description: 'Reads.', annotations: { readOnly: true } }, slow);
  const plan = { extensions: [extension('notes', register)], tools: [toolOf('archive', slow, true)] };
  await runTurn(plan, 'archive__run', 'notes__read');
  const [archive, notes] = ['in tool archive__run (tools/archive.ts)', 'in tool notes__read (index.ts)'];
  expect(seen.slice(0, 2).toSorted()).toEqual([`blocked ${archive}`, `blocked ${notes}`]);
  expect(seen[2]).toBe(`blocked ${archive} or ${notes}`);
});
