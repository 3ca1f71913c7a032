/**
 * What the turns of this process did, layer by layer, on its way to the disk. No turn waits for it and none fails with
 * it: chains are kept while they run, put into words when they are written, and written together. Secrets are masked
 * before anything is cut.
 */
import type { JsonObject } from '@goondan/types';
import type { Shorten } from '../../json/diff-json.ts';
import { shortenMasked } from '../../json/shorten-masked.ts';
import { longestMasked, maskJson, maskSecrets } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import { describeChain } from '../../trace/describe-chain.ts';
import type { ChainSpan, TurnObserver, WatchedChain, WatchedEnd, WatchedTurn } from '../../trace/layer-span.ts';
import { RecordedChain } from '../../trace/recorded-chain.ts';
import { packChain, TRACE_FORMAT, type TraceLine } from '../../trace/trace-lines.ts';
import { TurnKeeper } from '../../trace/turn-keeper.ts';
import { GatheredLog, type LineWriter } from '../../workspace/lines/gathered-log.ts';
import type { TurnLine } from '../../workspace/traces/trace-files.ts';

export interface TurnTracesParts {
  readonly open: () => Promise<LineWriter<TurnLine>>;
  readonly clock: Clock;
  readonly secrets: readonly string[];
  /** Told once for each time that writing stops working. */
  readonly report: (problem: string) => void;
}

export interface TurnTraces {
  /** Watches one turn. */
  observe(): TurnObserver;
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function openTurnTraces({ open, clock, secrets, report }: TurnTracesParts): TurnTraces {
  const mask = maskSecrets(secrets);
  const shorten = shortenMasked(mask, longestMasked(secrets));
  let newest: TurnLine['turn'] = { turnId: 'turn', traceId: 'trace', startedAt: clock.now() };
  const lineOf = (turn: TurnLine['turn'], isNeeded: boolean, line: MakeLine): TurnLine => ({
    turn,
    isNeeded,
    text() {
      const made = line();
      // A line is JSON, as its header says.
      return made && JSON.stringify(maskJson(made as unknown as JsonObject, mask));
    },
  });
  const log = new GatheredLog<TurnLine>({
    open,
    clock,
    report,
    noteOf: (count) => lineOf(newest, true, () => ({ type: 'dropped', count })),
  });
  return {
    observe: () =>
      new WatchedRun(clock, shorten, (turn, isNeeded, line) => {
        newest = turn;
        log.add(lineOf(turn, isNeeded, line));
      }),
    flush: () => log.flush(),
    close: () => log.close(),
  };
}

/** Characters of the input, so that a list of turns can show the first words. */
const LONGEST_INPUT = 200;
const LONGEST_ERROR = 1_000;

type MakeLine = () => TraceLine | undefined;
type AddLine = (turn: TurnLine['turn'], isNeeded: boolean, line: MakeLine) => void;

/** One turn, from its start in this process to its commit. */
class WatchedRun implements TurnObserver {
  readonly #clock: Clock;
  readonly #shorten: Shorten;
  readonly #add: AddLine;
  readonly #keeper: TurnKeeper;
  #turn: TurnLine['turn'] | undefined;

  constructor(clock: Clock, shorten: Shorten, add: AddLine) {
    this.#clock = clock;
    this.#shorten = shorten;
    this.#add = add;
    this.#keeper = new TurnKeeper(clock, (chain) => {
      const { outcome } = chain;
      // One that is over by the time it would be written has another line, that says so.
      const describe = () => (outcome === chain.outcome ? this.#describe(chain) : undefined);
      if (this.#turn !== undefined) add(this.#turn, false, describe);
    });
  }

  started(turn: WatchedTurn): void {
    const { turnId, startedAt, spanIds, event, agentName, instanceKey, resumed } = turn;
    this.#turn = { turnId, traceId: spanIds.traceId, startedAt };
    this.#keeper.start();
    this.#add(this.#turn, true, () => ({
      type: 'start',
      format: TRACE_FORMAT,
      time: startedAt.toISOString(),
      turnId,
      agentName,
      instanceKey,
      ...spanIds.fields,
      ...(event.input === undefined ? {} : { input: this.#shorten(event.input, LONGEST_INPUT) }),
      ...(resumed ? { resumed } : {}),
    }));
  }

  chain(chain: WatchedChain, parent: ChainSpan | undefined): RecordedChain | undefined {
    return this.#keeper.open(chain, parent instanceof RecordedChain ? parent : undefined);
  }

  ended({ result, stepCount }: WatchedEnd): void {
    const { chainsMore, startedAt } = this.#keeper;
    this.#keeper.close();
    if (this.#turn === undefined) return;
    const { finishReason, error } = result;
    const durationMs = Math.round((this.#clock.elapsed() - startedAt) * 1_000) / 1_000;
    const time = this.#clock.now().toISOString();
    this.#add(this.#turn, true, () => ({
      type: 'end',
      time,
      durationMs,
      finishReason,
      stepCount,
      ...(error === undefined ? {} : { error: this.#shorten(describeError(error), LONGEST_ERROR) }),
      ...(chainsMore === 0 ? {} : { chainsMore }),
    }));
  }

  #describe(recorded: RecordedChain): TraceLine {
    const { parent, number } = recorded;
    const chain = packChain(describeChain(recorded, { turnStartedAt: this.#keeper.startedAt, shorten: this.#shorten }));
    return { type: 'chain', n: number, ...(parent === undefined ? {} : { parent: parent.number }), chain };
  }
}

function describeError({ code, message }: NonNullable<WatchedEnd['result']['error']>): string {
  return code === undefined ? message : `${code}: ${message}`;
}
