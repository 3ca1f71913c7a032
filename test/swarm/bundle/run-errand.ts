/**
 * The work that agents do in these tests. An errand is a list of steps, given as JSON in an agent's input. The ends of
 * the steps are returned as the result. Events are also recorded in a file outside of the swarm, where they survive the
 * process.
 */
import { appendFileSync, closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentAddress, type AgentRequest, type AgentsApi, type AgentSend, GoondanError } from '@goondan/types';

export interface Errand {
  /** The name of the errand. It is unique where a test needs that. */
  readonly name: string;
  readonly steps: readonly ErrandStep[];
}

export type ErrandStep =
  /** Asks or tells another agent. `errand` is the work for that agent, and replaces the input. */
  | { readonly ask: AgentRequest & { readonly errand?: Errand } }
  | { readonly tell: AgentSend & { readonly errand?: Errand } }
  /** Sleeps for this many milliseconds, or until the turn is cancelled. */
  | { readonly sleep: number }
  /** Waits until a file of this name exists. */
  | { readonly hold: string }
  /** Ends the process after this many milliseconds, either always or only in the first run. */
  | { readonly exit: number; readonly once?: boolean }
  /** Starts a program in its own session, and leaves it running. */
  | { readonly leave: 'program' }
  | { readonly together: readonly ErrandStep[] };

export interface StepEnd {
  readonly target?: string;
  readonly response?: string;
  /** The end of the other agent's errand. It replaces `response`. */
  readonly errand?: ErrandEnd;
  readonly accepted?: boolean;
  readonly isAborted?: boolean;
  readonly code?: string;
  readonly message?: string;
  readonly together?: readonly StepEnd[];
}

export interface ErrandEnd extends AgentAddress {
  readonly name: string;
  readonly ends: readonly StepEnd[];
}

export interface Errands {
  readonly address: AgentAddress;
  readonly agents: AgentsApi;
  readonly signal: AbortSignal;
  /** The folder for the notes, and for the files that `hold` waits for. */
  readonly folder: string;
}

/** One recorded event. */
export interface Note extends AgentAddress {
  readonly what: 'began' | 'asked' | 'answered' | 'aborted' | 'exits' | 'layer' | 'heard';
  readonly errand: string;
  readonly about?: unknown;
}

export async function runErrand(errands: Errands, { name, steps }: Errand): Promise<ErrandEnd> {
  note(errands, 'began', name);
  const ends: StepEnd[] = [];
  for (const step of steps) ends.push(await runStep(errands, name, step));
  return { ...errands.address, name, ends };
}

export function note(
  { address, folder }: Pick<Errands, 'address' | 'folder'>,
  what: Note['what'],
  errand: string,
  about?: unknown,
) {
  const line: Note = { ...address, what, errand, about };
  appendFileSync(join(folder, 'notes.jsonl'), `${JSON.stringify(line)}\n`);
}

async function runStep(errands: Errands, name: string, step: ErrandStep): Promise<StepEnd> {
  const { agents, signal, folder } = errands;
  if ('together' in step)
    return { together: await Promise.all(step.together.map((each) => runStep(errands, name, each))) };
  if ('ask' in step) return ask(errands, name, step.ask);
  if ('tell' in step) return settle(agents.send(withInput(step.tell)));
  if ('hold' in step) {
    while (!existsSync(join(folder, step.hold)) && !signal.aborted) await Bun.sleep(5);
  }
  // `setsid` detaches the program, so that it survives this process.
  if ('leave' in step) await Bun.spawn(['sh', '-c', 'setsid sleep 1000 &'], { stdio: [null, null, null] }).exited;
  if ('sleep' in step) await Promise.race([Bun.sleep(step.sleep), aborted(signal)]);
  if ('exit' in step && (step.once !== true || isFirst(folder, name))) {
    await Bun.sleep(step.exit);
    note(errands, 'exits', name);
    process.exit(9);
  }
  if (signal.aborted) note(errands, 'aborted', name);
  return { isAborted: signal.aborted };
}

async function ask(errands: Errands, name: string, asked: AgentRequest & { errand?: Errand }): Promise<StepEnd> {
  const { target, input = '', errand } = asked;
  const about = { target, question: errand?.name ?? input };
  note(errands, 'asked', name, about);
  const end = await settle(errands.agents.request(withInput(asked)));
  note(errands, 'answered', name, { ...about, ...end });
  return end;
}

function withInput({ errand, ...call }: AgentRequest & { errand?: Errand }): AgentRequest {
  return errand === undefined ? call : { ...call, input: JSON.stringify(errand) };
}

async function settle(call: Promise<{ target?: string; response?: string; accepted?: boolean }>): Promise<StepEnd> {
  try {
    const { response, ...end } = await call;
    if (response === undefined) return end;
    // The cast is safe: the script of a test's agent repeats the result of the errand.
    return response.startsWith('{') ? { ...end, errand: JSON.parse(response) as ErrandEnd } : { ...end, response };
  } catch (error) {
    if (!GoondanError.is(error)) return { code: 'none', message: String(error) };
    return { code: error.code, message: error.message };
  }
}

function isFirst(folder: string, name: string): boolean {
  try {
    closeSync(openSync(join(folder, `first-${name}`), 'wx'));
    return true;
  } catch {
    return false;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
