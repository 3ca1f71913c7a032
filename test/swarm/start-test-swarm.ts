/**
 * A swarm of real processes on a real disk, for one test, in its own folder. At the end of the `await using` block the
 * swarm is stopped, none of its processes may be left, and its folder is removed.
 */
import { afterAll, beforeAll } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Delivery,
  type LogLine,
  type StartSwarmOptions,
  startSwarm,
  type Swarm,
  type SwarmNotice,
  type SwarmPlan,
  type TurnEnd,
} from '@goondan/runtime';
import type { DeclaredAgent, SwarmPolicy } from '@goondan/runtime/bundle';
import { type AgentEvent, type JsonObject, textOf } from '@goondan/types';
import { workspaceFolder } from '../../packages/runtime/src/workspace/layout/instance-paths.ts';
import { readOwner } from '../../packages/runtime/src/testing/read-owner.ts';
import { waitUntilGone } from '../torture/processes.ts';
import { until } from '../until.ts';
import type { ErrandEnd, ErrandStep, Note, StepEnd } from './bundle/run-errand.ts';

export const workspace = 'test';

/** An agent that runs errands and makes calls when its input says so, and otherwise repeats its input. */
export interface TestAgent {
  readonly name: string;
  /** The extensions of the agent, as names of files in `bundle/`. */
  readonly extensions?: readonly string[];
  readonly description?: string;
  readonly mayAsk?: readonly string[];
  /** The conversations of the agent share a process. */
  readonly isolation?: 'agent';
}

export type RuntimeNotice = Extract<SwarmNotice, { readonly type: 'runtime.event' }>;

export interface TestSwarm extends AsyncDisposable {
  readonly swarm: Swarm;
  /**
   * The folder of this swarm. It contains `state`, the state root, and `work`, where agents work and write their notes.
   */
  readonly folder: string;
  readonly stateRoot: string;
  /** `<state root>/workspaces/<id>`. */
  readonly workspace: string;
  readonly runTag: string;
  readonly logs: readonly LogLine[];
  readonly events: readonly RuntimeNotice[];
  readonly ends: readonly TurnEnd[];
  /** Sends an input and returns the text of the answer. Throws `code: message` when the turn failed. */
  say(agent: string, input: string, delivery?: Delivery): Promise<string>;
  /** Runs an errand, and returns the end of each step. */
  run(agent: string, steps: readonly ErrandStep[], delivery?: Delivery): Promise<readonly StepEnd[]>;
  notes(): readonly Note[];
  /** Releases the agents that wait in a `hold` step with this name. */
  release(name: string): void;
}

export interface TestSwarmOptions {
  readonly agents: readonly (string | TestAgent)[];
  readonly policy?: SwarmPolicy;
}

/** The time that a process may live after its swarm has ended. */
const ORPHAN_LIMIT_MS = 2_000;

export async function startTestSwarm(options: TestSwarmOptions): Promise<TestSwarm> {
  const folder = await makeTestFolder();
  const { stateRoot } = foldersIn(folder);
  const logs: LogLine[] = [];
  const swarm = await startSwarm({ ...testPlan(folder, options), onLog: (line) => void logs.push(line) });
  const runTag = (await readOwner({ stateRoot, workspaceId: workspace }))?.runTag ?? '';
  const events: RuntimeNotice[] = [];
  const ends: TurnEnd[] = [];
  await swarm.watch({ types: ['runtime.event', 'turn.ended'] }, (notice) => {
    if (notice.type === 'runtime.event') events.push(notice);
    if (notice.type === 'turn.ended') ends.push(notice.end);
  });
  const say: TestSwarm['say'] = (agent, input, delivery = {}) =>
    mayBeForgotten(swarm.ask({ agent, input, ...delivery }).then(answerOf));
  const run: TestSwarm['run'] = (agent, steps, delivery) =>
    mayBeForgotten(say(agent, errand('errand', steps), delivery).then((answer) => readErrandEnd(answer).ends));
  return {
    swarm,
    folder,
    stateRoot,
    workspace: workspaceFolder(stateRoot, workspace),
    runTag,
    logs,
    events,
    ends,
    say,
    run,
    notes: () => readNotes(folder),
    release: (name) => release(folder, name),
    async [Symbol.asyncDispose]() {
      await swarm.stop({ graceMs: 1_000 });
      const goneAfterMs = await waitUntilGone(runTag, ORPHAN_LIMIT_MS);
      await rm(folder, { recursive: true, force: true });
      if (runTag === '' || goneAfterMs === undefined) throw new Error('Processes of the swarm are left.');
    },
  };
}

/**
 * Starts one swarm for all tests of a file or of a `describe`. These tests must not depend on what other tests have
 * left: processes, notes, log lines.
 */
export function shareTestSwarm(options: TestSwarmOptions): () => TestSwarm {
  let running: TestSwarm | undefined;
  beforeAll(async () => {
    running = await startTestSwarm(options);
  });
  afterAll(() => running?.[Symbol.asyncDispose]());
  return () => {
    if (running === undefined) throw new Error('The swarm has not started.');
    return running;
  };
}

/**
 * Ignores a rejection of this promise. A failing test does not wait for the promise, and only the error of the test
 * must be reported.
 */
function mayBeForgotten<Value>(promise: Promise<Value>): Promise<Value> {
  promise.catch(() => undefined);
  return promise;
}

/** Creates a folder, which the caller must remove. */
export async function makeTestFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'goondan-swarm-'));
  mkdirSync(foldersIn(folder).work);
  return folder;
}

export function foldersIn(folder: string): { readonly stateRoot: string; readonly work: string } {
  return { stateRoot: join(folder, 'state'), work: join(folder, 'work') };
}

export function testPlan(
  folder: string,
  { agents, policy = {} }: TestSwarmOptions,
): SwarmPlan & Pick<StartSwarmOptions, 'stateRoot'> & { readonly workspace: string } {
  const { stateRoot, work } = foldersIn(folder);
  return {
    name: 'test',
    workspace,
    stateRoot,
    agents: agents.map((agent) => declare(typeof agent === 'string' ? { name: agent } : agent, work)),
    // A spare would cost each swarm the start of a process that nobody uses. `supervision/spare.test.ts` tests spares.
    policy: { spares: 0, ...policy },
  };
}

/** Formats an errand as an agent's input. */
export function errand(name: string, steps: readonly ErrandStep[]): string {
  return JSON.stringify({ name, steps });
}

/** Reads the end of an errand from an answer. Throws when the errand did not reach its end. */
export function readErrandEnd(answer: string): ErrandEnd {
  // The answer is the result of bundle/errands.ts, or an error that the model repeated.
  const end = JSON.parse(answer) as ErrandEnd & {
    readonly error?: { readonly code: string; readonly message: string };
  };
  if (end.error !== undefined) throw new Error(`${end.error.code}: ${end.error.message}`);
  return end;
}

export function answerOf({ result }: TurnEnd): string {
  if (result.finishReason === 'error') throw new Error(`${result.error?.code}: ${result.error?.message}`);
  return textOf(result.responseMessage);
}

export function readNotes(folder: string): readonly Note[] {
  const path = join(foldersIn(folder).work, 'notes.jsonl');
  if (!existsSync(path)) return [];
  // The last line is left out, because bundle/run-errand.ts may still be writing it.
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Note);
}

export function release(folder: string, name: string): void {
  writeFileSync(join(foldersIn(folder).work, name), '');
}

/** Returns the events that reached an agent with the extension `witness`, as its layers saw them. */
export function heardBy({ notes }: Pick<TestSwarm, 'notes'>, agent: string): readonly AgentEvent[] {
  const heard = notes().filter(({ what, agentName }) => what === 'heard' && agentName === agent);
  // The cast is safe: bundle/witness.ts wrote these notes.
  return heard.map(({ about }) => (about as { readonly inputEvent: AgentEvent }).inputEvent);
}

/** Waits until an agent with the extension `witness` has got this many events, and returns them. */
export function waitForHeard(running: Pick<TestSwarm, 'notes'>, agent: string, count: number) {
  return until(() => heardBy(running, agent).length === count && heardBy(running, agent), {
    about: `${agent} hears ${count} events`,
  });
}

const bundle = join(import.meta.dir, 'bundle');

function declare({ name, extensions = [], description, mayAsk, isolation }: TestAgent, work: string): DeclaredAgent {
  return {
    agentName: name,
    ...(description === undefined ? {} : { description }),
    ...(mayAsk === undefined ? {} : { mayAsk }),
    ...(isolation === undefined ? {} : { isolation }),
    agentTools: true,
    workdir: work,
    models: { 'Model/scripted': { provider: 'scripted', model: 'test', options: { script: scriptOf(name) } } },
    tools: [
      {
        name: 'errands',
        root: bundle,
        entry: './errands.ts',
        exports: [
          { name: 'run', description: 'Runs an errand.' },
          { name: 'again', description: 'Runs an errand, again when it was interrupted.', idempotent: true },
        ],
      },
    ],
    extensions: extensions.map((each) => ({
      resource: {
        apiVersion: 'goondan.ai/v1',
        kind: 'Extension',
        metadata: { name: each },
        spec: { entry: `./${each}.ts`, config: { folder: work } },
      },
      root: bundle,
    })),
  };
}

function scriptOf(name: string): JsonObject[] {
  const message = { target: '{{target}}', input: '{{input_}}' };
  return [
    { when: '^ask (?<target>\\S+) (?<input_>.*)$', call: { tool: 'agents__request', args: message } },
    { when: '^tell (?<target>\\S+) (?<input_>.*)$', call: { tool: 'agents__send', args: message } },
    { when: '^catalog$', call: { tool: 'agents__catalog' } },
    { when: '^list$', call: { tool: 'agents__list' } },
    { when: '^fail$', fail: { message: 'as it was told to' } },
    { when: '^\\{"name":"fail', fail: { message: 'as its name says' } },
    { when: '^(?<errand>\\{"name":"again.*\\})$', call: { tool: 'errands__again', args: { errand: '{{errand}}' } } },
    { when: '^(?<errand>\\{.*\\})$', call: { tool: 'errands__run', args: { errand: '{{errand}}' } } },
    { afterTool: 'agents__request', say: '{{result.response}}{{result.error}}' },
    { when: '', say: `${name} heard: {{input}}` },
    { say: '{{result}}' },
  ];
}
