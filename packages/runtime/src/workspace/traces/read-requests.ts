/**
 * Reads the model requests of a recorded turn, rebuilt from references. Takes no lock and changes nothing, so it also
 * works while the swarm runs, and for a turn that has not ended.
 */
import { summarise } from '../../trace/assemble-turn.ts';
import type { EffectRecord } from '../../trace/effect-record.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { ChainRecord, TurnSummary } from '../../trace/turn-trace.ts';
import type { HistorySource } from '../history/read-history.ts';
import type { StorePlace } from '../layout/instance-paths.ts';
import { ChainsOfRun } from './chains-of-run.ts';
import { findTurn } from './find-turn.ts';
import { rebuildRequests, wantedMessages } from './rebuild-requests.ts';
import type { RebuiltCall } from './rebuilt-call.ts';
import { ReferredMessages } from './referred-messages.ts';
import { traceFiles, type TraceSource } from './trace-source.ts';

export interface TurnRequests {
  readonly turn: TurnSummary;
  /** The calls that sent a request, in the order in which they ended. */
  readonly calls: readonly RebuiltCall[];
  /** The indexes of the steps that are recorded, in order. */
  readonly steps: readonly number[];
  /** Calls without a recorded request. */
  readonly unsent: readonly UnsentCall[];
}

/**
 * A model call without a recorded request. `running`: the call has not ended. `answered`: a layer answered in place of the
 * model. `failed`: the call failed before it was sent. `unreported`: the model is an object of a program that does not report its requests. `unknown`: nothing was sent, or its record is lost.
 */
export interface UnsentCall {
  readonly effect: string;
  readonly step?: number;
  readonly modelRef: string;
  readonly why: 'running' | 'answered' | 'failed' | 'unreported' | 'unknown';
  /** The error of a call that failed; absent otherwise. */
  readonly error?: string;
}

/**
 * Reads the requests. `id` has the same meaning as in `readRecording`. **Errors** — `E_TRACE_UNKNOWN`,
 * `E_TRACE_AMBIGUOUS`, those of reading traces. An error of reading the conversation is a problem of each request.
 */
export function readRequests(place: StorePlace, history: HistorySource, id?: string): Promise<TurnRequests> {
  return readRequestsOf(traceFiles(place), history, id);
}

/** Like `readRequests`, for traces that are kept anywhere. */
export async function readRequestsOf(source: TraceSource, history: HistorySource, id?: string): Promise<TurnRequests> {
  const { recorded, turn: found } = await findTurn(source, id);
  const lines = await recorded.lines();
  const turn = summarise(lines) ?? found;
  const conversation = new ReferredMessages(wantedMessages(lines));
  await conversation.read(history, turn);
  const calls = rebuildRequests(lines, turn, conversation);
  return { turn, calls, steps: stepsOf(lines), unsent: unsentCalls(lines) };
}

function stepsOf(lines: readonly TraceLine[]): readonly number[] {
  const steps = chainsOf(lines, 'step').map(({ label }) => Number(label));
  return [...new Set(steps)].toSorted((one, other) => one - other);
}

function chainsOf(lines: readonly TraceLine[], kind: ChainRecord['kind']): readonly ChainRecord[] {
  return lines.flatMap((line) => (line.type === 'chain' && line.chain.kind === kind ? [line.chain] : []));
}

function unsentCalls(lines: readonly TraceLine[]): readonly UnsentCall[] {
  const effects = new Map(lines.flatMap((line) => (line.type === 'effect' ? [[line.key, line] as const] : [])));
  const chains = new ChainsOfRun(lines);
  const keyOf = ({ effect, id }: ChainRecord) => effect ?? id;
  // A chain that takes long is written several times; its last line is the valid one.
  const calls = new Map(chainsOf(lines, 'model').map((chain) => [keyOf(chain), chain]));
  return [...calls].flatMap(([key, chain]) => {
    const effect = effects.get(key);
    if (effect?.request !== undefined) return [];
    const step = chains.find(key)?.step;
    return [
      {
        effect: key,
        ...(step === undefined ? {} : { step }),
        modelRef: chain.label,
        why: whyUnsent(chain, effect),
        ...(chain.error === undefined ? {} : { error: chain.error }),
      },
    ];
  });
}

function whyUnsent(chain: ChainRecord, effect: EffectRecord | undefined): UnsentCall['why'] {
  if (effect !== undefined) return effect.outcome?.ok === false ? 'failed' : 'unreported';
  // A call that a layer refused, or that has no budget, does not reach the model.
  if (chain.error !== undefined && chain.request === undefined) return 'failed';
  if (chain.layers.some(({ outcome }) => outcome === 'short_circuit')) return 'answered';
  return chain.isUnfinished === true ? 'running' : 'unknown';
}
