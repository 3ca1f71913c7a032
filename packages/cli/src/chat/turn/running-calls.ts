/**
 * The tool calls of a turn, and the turns of other agents that it caused. Each is shown while it runs, and then becomes
 * a line that stays. What a call caused is below the line of the call.
 */
import { placeText } from '@goondan/types';
import type { RuntimeNotice } from '../../run/limit-waits.ts';
import { shorten } from '../../shorten.ts';
import { type Line, type Span, span } from '../screen/line.ts';
import { isCancellation } from '@goondan/types';
import { formatDuration, formatElapsed } from '../../format-duration.ts';

type Payload = RuntimeNotice['payload'];

interface Running {
  readonly what: string;
  readonly args: string;
  readonly since: number;
  /** The id of a turn of another agent; absent for a tool call. */
  readonly turnId?: string;
  /** The span of the call or turn that caused this one, if it ran then. */
  readonly cause: string | undefined;
  /** The lines of what it caused and what has ended. */
  readonly below: Line[];
}

/** The maximum number of running calls that are shown; a line says how many more there are. */
const MOST_SHOWN = 6;
/** The maximum number of ended calls that are shown below a running one. */
const MOST_BELOW = 3;
/** The maximum number of running calls whose arguments are kept. The others are only counted. */
const MOST_KEPT = 1_000;
const LONGEST_ARGUMENTS = 80;
const LONGEST_REASON = 200;

export class RunningCalls {
  readonly #running = new Map<string, Running>();
  /** The reasons why running calls changed nothing in their bundle, by the id of the call. */
  readonly #refused = new Map<string, string>();
  /** The number of running calls that are not in `#running`. */
  #counted = 0;

  /** `agent` is the agent of the turn; other agents are shown by name. */
  constructor(private readonly agent: string) {}

  /** Handles a notice. If it ends a call or turn, returns the lines that stay on the screen. */
  hear({ name, at, payload }: RuntimeNotice, now: number): readonly Line[] {
    const id = textIn(payload, 'spanId');
    const isOther = at.agent !== this.agent;
    const tool = textIn(payload, 'toolName');
    const what = name.startsWith('turn.') ? at.agent : isOther ? `${at.agent} · ${tool}` : tool;
    const turnId = textIn(payload, 'turnId');
    if (name === 'tool.called') {
      const args = shorten(textIn(payload, 'args'), LONGEST_ARGUMENTS);
      this.#begin(id, { what, args, since: now, cause: this.#findTurn(turnId), below: [] });
    }
    if (name === 'changeset.rejected' || name === 'changeset.error') this.#refuse(id, payload['data']);
    if (name === 'turn.started' && isOther) {
      this.#begin(id, { what, args: '', since: now, turnId, cause: textIn(payload, 'parentSpanId'), below: [] });
    }
    if (!isEnd(name) || (name.startsWith('turn.') && !isOther)) return [];
    const ended = this.#end(id, what);
    const refusal = this.#refused.get(id);
    this.#refused.delete(id);
    if (ended === undefined) return [];
    const line = describeEnd(
      { ...ended, ...(refusal !== undefined && { refusal }) },
      payload,
      hasFailed(name, payload),
    );
    const lines = [line, ...ended.below.map(indented)];
    const above = this.#running.get(ended.cause ?? '')?.below;
    if (above === undefined || above.length >= MOST_KEPT) return lines;
    above.push(...lines);
    return [];
  }

  live(now: number): Line[] {
    const shown = new Map([...this.#running].slice(0, MOST_SHOWN));
    const roots = [...shown].filter(([, { cause = '' }]) => !shown.has(cause));
    const lines = roots.flatMap(([id]) => describeRunning(id, shown, now));
    const hidden = this.#running.size + this.#counted - shown.size;
    return hidden === 0 ? lines : [...lines, [span(`  … ${hidden} more`, 'dim')]];
  }

  /** Returns the span of the turn of another agent, if it runs. */
  #findTurn(turnId: string): string | undefined {
    return [...this.#running].find(([, running]) => turnId !== '' && running.turnId === turnId)?.[0];
  }

  /** Remembers a commit that changed nothing, although its call ends without an error. */
  #refuse(id: string, data: Payload[string] | undefined): void {
    if (!this.#running.has(id) || typeof data !== 'object' || data === null || Array.isArray(data)) return;
    this.#refused.set(id, `${textIn(data, 'status')}: ${shorten(textIn(data, 'message'), LONGEST_REASON)}`);
  }

  #begin(id: string, running: Running): void {
    if (this.#running.size < MOST_KEPT) this.#running.set(id, running);
    else this.#counted += 1;
  }

  #end(id: string, what: string): Pick<Running, 'what' | 'args' | 'cause' | 'below'> | undefined {
    const ended = this.#running.get(id);
    this.#running.delete(id);
    if (ended !== undefined || this.#counted === 0) return ended;
    this.#counted -= 1;
    return { what, args: '', cause: undefined, below: [] };
  }
}

/** Describes a running call, and below it what it caused. */
function describeRunning(id: string, all: ReadonlyMap<string, Running>, now: number): Line[] {
  const running = all.get(id);
  if (running === undefined) return [];
  const { what, args, since, below } = running;
  const caused = [...all]
    .filter(([, { cause }]) => cause === id)
    .flatMap(([other]) => describeRunning(other, all, now));
  const line = [span('  … '), span(what, 'cyan'), ...argumentsOf(args), time(formatElapsed(now - since))];
  return [line, ...[...below.slice(-MOST_BELOW), ...caused].map(indented)];
}

function indented(line: Line): Line {
  return [span('  '), ...line];
}

function isEnd(name: string): boolean {
  return /^(tool|turn)\.(completed|failed)$/.test(name);
}

function hasFailed(name: string, payload: Payload): boolean {
  return name.endsWith('.failed') || payload['status'] === 'error';
}

interface Ended extends Pick<Running, 'what' | 'args'> {
  /** The outcome of a commit that changed nothing. */
  readonly refusal?: string;
}

function describeEnd({ what, args, refusal }: Ended, payload: Payload, failed: boolean): Line {
  const duration = typeof payload['duration'] === 'number' ? formatDuration(payload['duration']) : '';
  if (failed && isCancellation(payload['error'])) {
    return [span('  ✗ ', 'dim'), span(what, 'cyan'), ...argumentsOf(args), span(` cancelled, ${duration}`, 'dim')];
  }
  if (!failed && refusal !== undefined) {
    return [
      span('  ✗ ', 'yellow'),
      span(what, 'cyan'),
      ...argumentsOf(args),
      span(` ${refusal} (${duration})`, 'yellow'),
    ];
  }
  const sign = failed ? span('  ✗ ', 'red') : span('  ✓ ', 'green');
  const end = failed ? span(` failed, ${duration}${reasonIn(payload)}`, 'red') : span(` ok, ${duration}`, 'dim');
  return [sign, span(what, 'cyan'), ...argumentsOf(args), end];
}

function argumentsOf(args: string): Span[] {
  return args === '' || args === '{}' ? [] : [span(` ${args}`, 'dim')];
}

function time(text: string): Span {
  return span(` ${text}`, 'dim');
}

function reasonIn({ error }: Payload): string {
  if (typeof error !== 'object' || error === null || Array.isArray(error)) return '';
  const [code, message] = [textIn(error, 'code'), textIn(error, 'message')];
  return `: ${shorten([code, message].filter((part) => part !== '').join(': '), LONGEST_REASON)}${placeIn(error)}`;
}

function placeIn({ place }: Payload): string {
  if (typeof place !== 'object' || place === null || Array.isArray(place)) return '';
  const { file, line, column } = place;
  if (typeof file !== 'string' || typeof line !== 'number' || typeof column !== 'number') return '';
  return ` (${placeText({ file, line, column })})`;
}

function textIn(payload: Payload, field: string): string {
  const value = payload[field];
  return typeof value === 'string' ? value : '';
}
