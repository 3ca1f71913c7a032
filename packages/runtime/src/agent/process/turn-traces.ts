/**
 * Writes the traces of this process's turns to disk, layer by layer. No turn waits for a write or fails because of it:
 * chains are kept in memory while they run, and described and written later in batches. Secrets are masked before long
 * values are cut.
 */
import type { ExtensionStatusChanged } from '@goondan/types';
import { shortenMasked } from '../../log/shorten-masked.ts';
import type { LocateThrown } from '../../log/locate-thrown.ts';
import { type Mask, noSecrets } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import { describeUnmasked } from '../../trace/describe-span.ts';
import { encodeMasked } from '../../trace/encode-trace-line.ts';
import type { WatchedEffect, WatchedEnd, WatchedTurn } from '../../trace/layer-span.ts';
import { EffectRecorder } from '../../trace/record-effect.ts';
import type { RunningSpan } from '../../trace/running-span.ts';
import type { RecordedExtension } from '../../trace/recording.ts';
import type { ResumePoint } from '../../trace/resume-point.ts';
import { recordThrown } from '../../trace/thrown-record.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { TurnListener } from '../../trace/watch-turn.ts';
import { WrittenRequests } from '../../trace/written-requests.ts';
import { GatheredLog, type LineWriter } from '../../workspace/lines/gathered-log.ts';
import type { TurnLine } from '../../workspace/traces/trace-writer.ts';

export interface TurnTracesDeps {
  readonly open: () => Promise<LineWriter<TurnLine>>;
  readonly clock: Clock;
  /** Returns the agent's extensions at the start of a turn, which a replay needs. */
  readonly extensions: () => readonly RecordedExtension[];
  /** Returns the current statuses of the things that the extensions need. When absent, turns start without statuses. */
  readonly statuses?: () => readonly ExtensionStatusChanged[];
  /** Called once whenever writing starts to fail. */
  readonly report: (problem: string) => void;
}

export function openTurnTraces({ open, clock, extensions, statuses, report }: TurnTracesDeps) {
  const effects = new EffectRecorder();
  let running: WrittenRun | undefined;
  let newest: TurnLine['turn'] = { turnId: 'turn', traceId: 'trace', startedAt: clock.now() };
  const lineOf = (
    turn: TurnLine['turn'],
    isNeeded: boolean,
    mask: Mask,
    line: () => TraceLine | undefined,
  ): TurnLine => ({
    turn,
    isNeeded,
    text() {
      const made = line();
      return made && encodeMasked(made, mask);
    },
  });
  let requests = new WeakMap<WrittenRun, WrittenRequests>();
  const requestsOf = (run: WrittenRun) => {
    const written = requests.get(run) ?? new WrittenRequests();
    requests.set(run, written);
    return written;
  };
  const log = new GatheredLog<TurnLine>({
    open: () => {
      // After a failed write it is unknown which lines are in the file, so later lines do not refer to earlier
      // requests.
      requests = new WeakMap();
      return open();
    },
    clock,
    report,
    noteOf: (count) => lineOf(newest, true, noSecrets, () => ({ type: 'dropped', count })),
  });
  const add: RunDeps['add'] = (turn, isNeeded, mask, line) => {
    newest = turn;
    log.add(lineOf(turn, isNeeded, mask, line));
  };
  const onRunning = (run: WrittenRun | undefined) => void (running = run);
  return {
    /** Returns the listener for one turn. */
    listen: (): TurnListener =>
      new WrittenRun({ clock, extensions, ...(statuses && { statuses }), effects, requestsOf, onRunning, add }),
    /** Marks the running turn as left to the next process. */
    leave: () => running?.halt(),
    /** Adds a status to the running turn; ignores it when no turn is running. */
    statusChanged: (status: ExtensionStatusChanged) => running?.statusChanged(status),
    flush: () => log.flush(),
    close: () => log.close(),
  };
}

/** The maximum length of the input, in characters. It is enough for lists of turns, which show the first words. */
const LONGEST_INPUT = 200;
const LONGEST_ERROR = 1_000;
const LONGEST_OUTPUT = 1_000;
/** The maximum length of a resume point, in characters. A turn with a longer one cannot be replayed. */
const LONGEST_RESUME_POINT = 2_000_000;

/**
 * The maximum number of statuses written for one run, so that a server that keeps reconnecting does not fill the file.
 */
const MOST_STATUSES = 200;

interface RunDeps extends Pick<TurnTracesDeps, 'clock' | 'extensions' | 'statuses'> {
  readonly effects: EffectRecorder;
  /** Returns the requests of a run that are already in the file. */
  readonly requestsOf: (run: WrittenRun) => WrittenRequests;
  /** Called with a run when it starts, and with `undefined` when it ends. Turns run one after the other. */
  readonly onRunning: (run: WrittenRun | undefined) => void;
  /** Adds a line, which is made and masked when it is written. */
  readonly add: (turn: TurnLine['turn'], isNeeded: boolean, mask: Mask, line: () => TraceLine | undefined) => void;
}

/** One turn in this process, from its start to its commit. */
class WrittenRun implements TurnListener {
  #turn: TurnLine['turn'] | undefined;
  #startedAt = 0;
  #mask: Mask = noSecrets;
  #locate: LocateThrown | undefined;
  /** Chains that are running. `#begun` counts all chains so far. */
  readonly #open = new Set<RunningSpan>();
  #begun = 0;
  /** Chains whose start was written, with the number of their layers that had called `next()` by then. */
  readonly #written = new Map<RunningSpan, number>();
  #statuses = 0;
  /** Keys of effects that have begun but not ended. */
  readonly #asked = new Set<string>();

  constructor(private readonly deps: RunDeps) {}

  started(turn: WatchedTurn, turnStartedAt: number): void {
    const { turnId, startedAt, spanIds, event, agentName, instanceKey, resumed, mask, locate } = turn;
    this.#mask = mask;
    this.#locate = locate;
    this.#startedAt = turnStartedAt;
    this.#turn = { turnId, traceId: spanIds.traceId, startedAt };
    this.#addNeeded({
      type: 'start',
      time: startedAt.toISOString(),
      turnId,
      agentName,
      instanceKey,
      ...spanIds.fields,
      source: event.source,
      ...(event.input === undefined ? {} : { input: shortenMasked(mask)(event.input, LONGEST_INPUT) }),
      ...(resumed ? { resumed } : {}),
    });
    const { createdAt, ...rest } = event;
    const stored = { ...rest, createdAt: createdAt.toISOString() };
    this.#addNeeded({ type: 'beginning', event: stored, extensions: this.deps.extensions() });
    if (turn.resumePoint !== undefined) this.#add(() => resumeLine(turn.resumePoint?.()));
    for (const status of this.deps.statuses?.() ?? []) this.statusChanged(status);
    this.deps.onRunning(this);
  }

  statusChanged(status: ExtensionStatusChanged): void {
    this.#statuses += 1;
    if (this.#statuses <= MOST_STATUSES) this.#addNeeded({ type: 'status', status });
  }

  asked(key: string): void {
    this.#asked.add(key);
    this.#tellWhoWentIn();
  }

  cancelled(reason: Error): void {
    this.halt(reason);
  }

  /**
   * Writes a line that says where the turn stopped. A line without a reason means that another process continues the
   * turn.
   */
  halt(reason?: Error): void {
    // Writes the current state of open chains. A chain that ends later gets another line.
    for (const chain of this.#open) this.changed(chain);
    this.#addNeeded({
      type: 'halt',
      ...(reason === undefined ? {} : { error: recordThrown(reason, this.#mask) }),
      begun: this.#begun,
      open: [...this.#open].map(({ number, layers }) => ({
        n: number,
        stages: layers.map(({ stage = null }) => stage),
      })),
      asked: [...this.#asked],
    });
  }

  effect(effect: WatchedEffect): void {
    this.#asked.delete(effect.key);
    const record = this.deps.effects.recordUnmasked(effect, this.#mask);
    this.#add(() => ({ type: 'effect', ...record(this.deps.requestsOf(this)) }));
  }

  changed(chain: RunningSpan): void {
    const { outcome, number } = chain;
    if (number >= this.#begun) {
      this.#begun = number + 1;
      this.#tellWhoWentIn();
    }
    if (outcome === 'running') this.#open.add(chain);
    else this.#close(chain);
    // A chain that has ended by the time of writing has a later line with its end, so this line is left out.
    this.#add(() => (outcome === chain.outcome ? this.#describe(chain) : undefined));
  }

  ended({ result, stepCount, usage, called, took, thrown }: WatchedEnd, durationMs: number, chainsMore: number): void {
    const { finishReason, truncated, output, error } = result;
    this.deps.onRunning(undefined);
    this.#addNeeded({
      type: 'end',
      time: this.deps.clock.now().toISOString(),
      durationMs: Math.round(durationMs * 1_000) / 1_000,
      finishReason,
      ...(truncated === true ? { truncated } : {}),
      ...(output === undefined ? {} : { output: shortenMasked(this.#mask)(output, LONGEST_OUTPUT) }),
      stepCount,
      usage,
      ...(called === undefined ? {} : { called }),
      ...(took.length === 0 ? {} : { took }),
      ...(error === undefined ? {} : { error: shortenMasked(this.#mask)(describeError(error), LONGEST_ERROR) }),
      ...(error?.extension === undefined ? {} : this.#locate?.(thrown)),
      ...(chainsMore === 0 ? {} : { chainsMore }),
    });
  }

  #close(chain: RunningSpan): void {
    this.#open.delete(chain);
    this.#written.delete(chain);
  }

  /**
   * Writes a line about each running chain in which more layers have called `next()` since its last line. A request
   * from inside a chain depends on the changes that its layers made before `next()`. With this line, the changes are in
   * the file even if the process dies before the chain ends.
   */
  #tellWhoWentIn(): void {
    if (this.#written.size === 0) return;
    for (const [chain, before] of this.#written) {
      if (goneIn(chain) <= before || chain.layers.some(({ stage }) => stage === 'in')) continue;
      this.#written.delete(chain);
      this.changed(chain);
    }
  }

  #add(line: () => TraceLine | undefined): void {
    if (this.#turn !== undefined) this.deps.add(this.#turn, false, this.#mask, line);
  }

  /** Adds a line that must not be lost, such as the start or the end of the turn. */
  #addNeeded(line: TraceLine): void {
    if (this.#turn !== undefined) this.deps.add(this.#turn, true, this.#mask, () => line);
  }

  #describe(recorded: RunningSpan): TraceLine {
    const { parent, number } = recorded;
    if (recorded.outcome === 'running') this.#written.set(recorded, goneIn(recorded));
    const chain = describeUnmasked(recorded, this.#startedAt, this.#locate);
    return { type: 'chain', n: number, ...(parent === undefined ? {} : { parent: parent.number }), chain };
  }
}

function resumeLine(point: ResumePoint | undefined): TraceLine {
  const line = { type: 'resume', ...(point === undefined ? {} : { point }) } as const;
  return JSON.stringify(line).length > LONGEST_RESUME_POINT ? { type: 'resume' } : line;
}

function goneIn({ layers }: RunningSpan): number {
  return layers.filter(({ stage }) => stage !== 'in').length;
}

function describeError({ code, message }: NonNullable<WatchedEnd['result']['error']>): string {
  return code === undefined ? message : `${code}: ${message}`;
}
