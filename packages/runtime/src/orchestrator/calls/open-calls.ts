/** The open calls, indexed by event, by caller and by callee. */
import type { AgentAddress } from '@goondan/types';
import type { RequestBound } from '../../ipc/request-timeout.ts';
import type { CallOutcome } from '../../ipc/to-agent.ts';
import { addressKey } from '../address/address-key.ts';
import type { CallFrame } from './call.ts';
import type { CallRules } from './check-call.ts';

export interface OpenCall {
  readonly kind: 'request' | 'send';
  /** The id of the event that the callee gets. */
  readonly id: string;
  readonly caller: AgentAddress;
  readonly callee: AgentAddress;
  /** What the time limit of a request is for: the start of the callee's turn, or its answer. */
  waitsFor: 'turn' | 'answer';
  readonly bounds: Readonly<Record<OpenCall['waitsFor'], RequestBound>>;
  /** For a request: its deadline on the monotonic clock, or the remaining time while it is paused. */
  deadline: { readonly at: number } | { readonly leftMs: number };
  /** True once the callee's turn has begun, so that it may have used tokens. */
  hasBegun: boolean;
  /** The outcome of a request that was given up. */
  endedAs?: Extract<CallOutcome, { status: 'failed' }>;
  /** Ids of the frames that wait for the outcome, or for the tokens after it. Empty while the caller has no process. */
  readonly callIds: Set<string>;
}

export class OpenCalls {
  readonly #calls = new Map<string, OpenCall>();
  readonly #ofCaller = new Map<string, Set<OpenCall>>();
  readonly #toCallee = new Map<string, Set<OpenCall>>();

  get size(): number {
    return this.#calls.size;
  }

  /** Lists all open requests. */
  requests(): readonly OpenCall[] {
    return [...this.#calls.values()].filter(({ kind }) => kind === 'request');
  }

  get(id: string): OpenCall | undefined {
    return this.#calls.get(id);
  }

  ofCaller(address: AgentAddress): readonly OpenCall[] {
    return [...(this.#ofCaller.get(addressKey(address)) ?? [])];
  }

  /** Lists the requests that an instance waits for. They block the instance's queue; a `send` does not. */
  requestsOf(address: AgentAddress): readonly OpenCall[] {
    return this.ofCaller(address).filter(({ kind }) => kind === 'request');
  }

  requestsTo(address: AgentAddress): readonly OpenCall[] {
    return [...(this.#toCallee.get(addressKey(address)) ?? [])].filter(({ kind }) => kind === 'request');
  }

  findFrame(caller: AgentAddress, callId: string): OpenCall | undefined {
    return this.ofCaller(caller).find(({ callIds }) => callIds.has(callId));
  }

  add(call: OpenCall): void {
    this.#calls.set(call.id, call);
    addTo(this.#ofCaller, call.caller, call);
    addTo(this.#toCallee, call.callee, call);
  }

  delete(call: OpenCall): void {
    this.#calls.delete(call.id);
    deleteFrom(this.#ofCaller, call.caller, call);
    deleteFrom(this.#toCallee, call.callee, call);
  }
}

function addTo(index: Map<string, Set<OpenCall>>, address: AgentAddress, call: OpenCall): void {
  const key = addressKey(address);
  index.set(key, (index.get(key) ?? new Set()).add(call));
}

function deleteFrom(index: Map<string, Set<OpenCall>>, address: AgentAddress, call: OpenCall): void {
  const key = addressKey(address);
  const calls = index.get(key);
  calls?.delete(call);
  if (calls?.size === 0) index.delete(key);
}

/** Returns the time limits of a request: until the turn of the callee begins, and from then on. */
export function boundsOf(
  { timeoutMs, timeoutField = 'timeoutMs', timeoutFrom = 'turn' }: CallFrame,
  times: ReturnType<CallRules['timesOf']>,
): OpenCall['bounds'] {
  return {
    turn: { ms: times.queueTimeoutMs, field: 'queueTimeoutMs', from: 'call' },
    answer:
      timeoutMs === undefined
        ? { ms: times.turnTimeoutMs, field: 'turnTimeoutMs', from: 'turn' }
        : { ms: timeoutMs, field: timeoutField, from: timeoutFrom },
  };
}
