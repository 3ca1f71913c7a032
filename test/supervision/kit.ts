/**
 * For tests: a swarm of real processes on a real disk, in a temporary folder. At the end of the test, the swarm is
 * stopped and the folder is removed in any case. Then no process of the run may be left.
 */
import { expect } from 'bun:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LogLine, startSwarm, type Swarm, type TurnEnd } from '@goondan/runtime';
import type { DeclaredAgent, DeclaredExtension, SwarmPolicy } from '@goondan/runtime/bundle';
import { durableStore, type Journal } from '@goondan/runtime/history';
import { type JsonObject, type Message, textOf } from '@goondan/types';
import { readOwner } from '../../packages/runtime/src/testing/read-owner.ts';
import { sampleStep } from '../samples.ts';
import { findTagged, waitUntilGone } from '../torture/processes.ts';
import { usedMs } from '../used-ms.ts';
import { until } from '../until.ts';

export const workspace = 'supervision';
/** The timeout of one test, long enough for a busy machine. */
export const TEST_MS = 60_000;

export interface TestFolder extends AsyncDisposable {
  readonly path: string;
}

export async function temporaryFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), 'goondan-supervision-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** A log line with the time of its arrival, as `performance.now()`. */
export type HeardLine = LogLine & { readonly at: number };

export interface TestSwarm extends AsyncDisposable {
  readonly control: Swarm;
  readonly stateRoot: string;
  /** The environment entry that all processes of the swarm have. */
  readonly runTag: string;
  readonly lines: readonly HeardLine[];
  /** Returns the log lines of this event. */
  told(event: string): readonly HeardLine[];
}

/**
 * A policy with short intervals, so that a hanging process is found soon and a crashed process restarts soon. It has no
 * spare process, which would cost each swarm the start of a process that nobody uses; `spare.test.ts` tests spares.
 */
export const quickPolicy: SwarmPolicy = {
  spares: 0,
  heartbeat: { everyMs: 250, missedPings: 4 },
  restart: { quickCrashes: 3, baseMs: 10, maxMs: 50, healthyMs: 600_000 },
  shutdown: { gracePeriodSeconds: 20 },
};

export interface TestPlan {
  readonly agents: readonly DeclaredAgent[];
  readonly policy?: SwarmPolicy;
}

export async function openSwarm(stateRoot: string, { agents, policy }: TestPlan): Promise<TestSwarm> {
  const lines: HeardLine[] = [];
  const authors = new Map<string, number>();
  const control = await startSwarm({
    name: 'supervised',
    workspace,
    stateRoot,
    agents,
    policy: { ...quickPolicy, ...policy },
    onLog(line) {
      const count = (authors.get(line.event ?? '') ?? 0) + 1;
      authors.set(line.event ?? '', count);
      if (isAuthors(line) && count > MOST_AUTHORS) return;
      lines.push({ ...line, at: performance.now() });
    },
  });
  const runTag = await runTagOf(stateRoot);
  return {
    control,
    stateRoot,
    runTag,
    lines,
    told: (event) => lines.filter((line) => line.event === event),
    async [Symbol.asyncDispose]() {
      await control.stop({ graceMs: 2_000 });
      await expectNothingLeft(runTag);
    },
  };
}

/** The maximum number of log lines of tools and extensions that are kept, for each event. */
const MOST_AUTHORS = 1_000;

function isAuthors({ event }: LogLine): boolean {
  return event === undefined || ['flood', 'process.stdout', 'process.stderr'].includes(event);
}

export async function runTagOf(stateRoot: string): Promise<string> {
  const owner = await readOwner({ stateRoot, workspaceId: workspace });
  if (owner === undefined) throw new Error('Nobody runs the workspace.');
  return owner.runTag;
}

/** Checks that a stopped swarm left no process. The guardian exits last. */
export async function expectNothingLeft(runTag: string): Promise<void> {
  const left = findTagged(runTag);
  if (left.length > 0) throw new Error(`Left after the stop: ${left.map(describeProcess).join('; ')}`);
  await until(() => guardiansOf(runTag).length === 0, { about: 'the guardian is gone' });
}

export { findTagged, waitUntilGone };

/**
 * Finds the guardian processes of a run. They have the run tag among their arguments, and not in their environment. The
 * shell that starts one is none yet: it may end together with the orchestrator.
 */
export function guardiansOf(runTag: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const command = commandOf(pid);
      const isShell = command.startsWith('/bin/sh');
      return !isShell && command.includes('guardian-runner.js') && command.includes(runTag);
    });
}

function describeProcess(pid: number): string {
  return `${pid} ${commandOf(pid).replaceAll('\0', ' ')}`;
}

/** Returns the arguments of a process, each with a NUL after it. Returns an empty text when the process has exited. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}

/** Declares an agent with a script and the tools of `bundle/acts.ts`. If no rule matches, it repeats its input. */
export function scriptedAgent(
  agentName: string,
  more: Partial<DeclaredAgent> & { script?: JsonObject[] } = {},
): DeclaredAgent {
  const { script = [], ...rest } = more;
  const options = { script: [...script, ...actScript, { say: 'You said: {{input}}' }] };
  return {
    agentName,
    models: { 'Model/scripted': { provider: 'scripted', model: 'test', options } },
    tools: [acts],
    ...rest,
  };
}

const actScript: JsonObject[] = ['once', 'again'].map((name) => ({
  when: `^${name} (?<deed>\\S+)`,
  call: { tool: `acts__${name}`, args: { deed: '{{deed}}' } },
}));

/** Declares the extension in `bundle/<name>.ts`. */
export function extensionOf(name: string, config: JsonObject = {}): DeclaredExtension {
  return {
    resource: { apiVersion: 'goondan.ai/v1', kind: 'Extension', metadata: { name }, spec: { entry: `./${name}.ts` } },
    root: join(import.meta.dir, 'bundle'),
    config,
  };
}

const parameters = { type: 'object', properties: { deed: { type: 'string' } }, required: ['deed'] };

const acts = {
  name: 'acts',
  root: join(import.meta.dir, 'bundle'),
  entry: './acts.ts',
  exports: [
    { name: 'once', description: 'Does it; after a crash, not again.', parameters },
    { name: 'again', description: 'Does it; after a crash, again.', parameters, idempotent: true },
  ],
};

/** Returns the outcome of a turn: its text, or the code of its error. */
export function outcomeOf({ result }: TurnEnd): string {
  return result.finishReason === 'error'
    ? (result.error?.code ?? 'error without a code')
    : textOf(result.responseMessage);
}

/** Reads the store, which takes no lock. */
export async function readStore<Value>(stateRoot: string, look: (journal: Journal) => Promise<Value>): Promise<Value> {
  const journal = await durableStore({ stateRoot, workspaceId: workspace, warn: () => undefined });
  try {
    return await look(journal);
  } finally {
    await journal.close();
  }
}

/** Asks the agent again and again until `work` settles. Returns the number of answers. */
export async function askWhile(swarm: TestSwarm, agent: string, work: Promise<unknown>): Promise<number> {
  const state = { isOver: false };
  const over = () => void (state.isOver = true);
  work.then(over, over);
  let answers = 0;
  for (; !state.isOver; answers++) {
    expect(await ask(swarm, agent, 'default', 'hello')).toBe('You said: hello');
    await Bun.sleep(answers < QUICK_ANSWERS ? ASK_SOON_MS : ASK_LATER_MS);
  }
  return answers;
}

/** Short work is also asked about a few times. After that, in `npm test`, the work itself gets the processor. */
const QUICK_ANSWERS = 4;
const ASK_SOON_MS = sampleStep === 1 ? 20 : 5;
const ASK_LATER_MS = sampleStep === 1 ? ASK_SOON_MS : 300;

export async function ask({ control }: TestSwarm, agent: string, instanceKey: string, input: string): Promise<string> {
  return outcomeOf(await control.ask({ agent, instanceKey, input }));
}

/** Returns the lines that the tools and extensions in `bundle/` have recorded. */
export function notesIn(folder: string): string[] {
  const file = join(folder, 'notes.log');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

/** Returns the pid of the instance's process, if it has one. */
export async function pidOf(
  { control }: TestSwarm,
  agent: string,
  instanceKey = 'default',
): Promise<number | undefined> {
  const { instances } = await control.status();
  return instances.find((each) => each.agent === agent && each.instanceKey === instanceKey)?.pid;
}

/** Returns the code of a rejection; `undefined` when there was none. */
export async function codeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

/**
 * Measures the longest time that this process, which is also the orchestrator, blocks its event loop. Only processor
 * time counts, because other programs on a busy machine delay the loop, too.
 */
export function watchLoop(): Disposable & { readonly longestWorkMs: number } {
  let longestWorkMs = 0;
  let last = usedMs();
  const timer = setInterval(() => {
    const now = usedMs();
    longestWorkMs = Math.max(longestWorkMs, now - last);
    last = now;
  }, LOOK_MS);
  return {
    get longestWorkMs() {
      return longestWorkMs;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

const LOOK_MS = 5;

/** Returns the texts of the users, in order. */
export function inputsOf(messages: readonly Message[]): string[] {
  return messages.filter(({ data }) => data.role === 'user').map((message) => textOf(message));
}
