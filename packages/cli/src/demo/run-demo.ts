/** `gdn demo`: one turn of the agent in `packages/cli/demo`, watched from the outermost layer to the core. */
import {
  type AgentPlan,
  newTraceId,
  randomIds,
  recordTurn,
  startAgent,
  systemClock,
  type TurnOptions,
} from '@goondan/runtime';
import type { AgentEvent } from '@goondan/types';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import { printLogLine } from '../print-log-line.ts';
import { reportTurnError } from '../report-error.ts';
import { reportOf } from '../run/turn-report.ts';
import type { Terminal } from '../terminal.ts';
import { printTrace } from '../trace/print-trace.ts';
import { printAnswer } from './print-answer.ts';
import type { DemoRun } from './demo-run.ts';

export interface DemoOptions {
  readonly input: string;
  readonly json: boolean;
}

export async function runDemo(options: DemoOptions, terminal: Terminal, signal: AbortSignal): Promise<ExitCode> {
  const run = options.json
    ? await runAgent(options.input, terminal, { signal })
    : await showTurn(options.input, terminal, signal);
  if (options.json) printJson(run, terminal);
  return run.error === undefined ? exitCodes.ok : reportTurnError(run.error, terminal);
}

async function showTurn(input: string, terminal: Terminal, signal: AbortSignal): Promise<DemoRun> {
  const answer = printAnswer(input, terminal);
  const run = await runAgent(input, terminal, { signal, onDelta: answer.stream });
  answer.end(run.response);
  if (run.trace !== undefined) {
    terminal.print('\n');
    printTrace([run.trace], terminal);
  }
  return run;
}

async function runAgent(input: string, terminal: Terminal, options: TurnOptions): Promise<DemoRun> {
  const agent = await startAgent(await loadPlan(), { logSink: (line) => printLogLine(line, terminal) });
  try {
    const event = eventFor(input);
    const recorder = recordTurn(systemClock);
    const { result, stepCount, usage } = await agent.handle(event, { ...options, observer: recorder });
    const { agentName, instanceKey } = agent.parts.address;
    const { id: eventId, traceId } = event;
    const end = { agent: agentName, instanceKey, eventId, traceId, result, stepCount, usage };
    return { ...reportOf(end), trace: recorder.turn() };
  } finally {
    await agent.close();
  }
}

/** By its path and not by an import: it is the code of an agent, not of the command. */
async function loadPlan(): Promise<AgentPlan> {
  const file = new URL('../../demo/agent.ts', import.meta.url);
  // The type checker sees the same file, which exports it with this type.
  const { plan } = (await import(file.href)) as { plan: AgentPlan };
  return plan;
}

function eventFor(input: string): AgentEvent {
  return {
    id: randomIds.next('event'),
    type: 'user.message',
    input,
    instanceKey: 'default',
    source: { kind: 'cli', name: 'gdn' },
    traceId: newTraceId(),
    createdAt: systemClock.now(),
  };
}
