/**
 * Renders a recorded turn as a tree for people: layers nested as in the onion, with their own times and changes, and
 * the turns of called agents inside the chain that called them.
 */
import { type ExtensionStatusChanged, placeText } from '@goondan/types';
import { defined } from '../json/defined.ts';
import type { Change } from '../json/diff-json.ts';
import { shortDigest } from '../json/short-digest.ts';
import { describeCacheLoss } from './cache-loss.ts';
import { describeWait } from './describe-answer.ts';
import { describeDuration } from './describe-duration.ts';
import { describeTokens, describeTurnUsage } from './describe-tokens.ts';
import { describeExtensionStatus } from './describe-extension-status.ts';
import { type Line, indent, joinLines } from './render-lines.ts';
import { knownMessages, showEvents } from './show-events.ts';
import { shortLine, wholeText } from './show-value.ts';
import { childrenOf, isTurn } from './children-of.ts';
import { nameChain } from './name-chain.ts';
import { hasPassedOn } from './passed-on.ts';
import type { ChainRecord, LayerRecord, TurnTrace } from './turn-trace.ts';

export interface RenderOptions {
  /** Colours a piece of text. Without this function the text stays plain. */
  readonly paint?: (style: 'kind' | 'name' | 'time' | 'change' | 'error', text: string) => string;
  /**
   * Cuts `text` to the room after `start`, the beginning of its line: arguments of tool calls, and words of messages.
   * Without this function, at most 200 characters are shown.
   */
  readonly fit?: (start: string, text: string) => string;
  /** Formats a time; without this function, times are shown as in the record, in UTC. */
  readonly time?: (iso: string) => string;
  /** If true, shows every recorded change, the messages, and the input of calls. */
  readonly isFull?: boolean;
}

/** Renders a turn with the turns that it requested, or a chain that was recorded in this process. */
export function renderTrace(turn: TurnTrace | ChainRecord, options: RenderOptions = {}): string {
  const { paint = (_style, text) => text, fit = (_start, text) => text, time = (iso) => iso, isFull = false } = options;
  const chain = isTurn(turn) ? turn.chain : turn;
  const renderer = new Renderer({ paint, time, isFull }, knownMessages(chain), hasSeveralPlans(turn));
  const lines = isTurn(turn) ? renderer.turn(turn) : renderer.chain(turn, 0);
  return joinLines(lines, fit);
}

class Renderer {
  constructor(
    private readonly options: Required<Omit<RenderOptions, 'fit'>>,
    /** The texts of the messages of this turn, by id. */
    private readonly texts: ReadonlyMap<string, string>,
    /** If true, the turn and its steps show their plans. */
    private readonly showsPlans: boolean,
  ) {}

  private get isFull(): boolean {
    return this.options.isFull;
  }

  private paint(...piece: Parameters<NonNullable<RenderOptions['paint']>>): string {
    return this.options.paint(...piece);
  }

  turn(turn: TurnTrace): Line[] {
    const notes = this.turnNotes(turn);
    const { durationMs, startedAt, instanceKey } = turn;
    const { isUnfinished: _chain, ...chain } = turn.chain;
    // The duration also has the runs before a crash, and the list of turns shows it, too. A turn that ended before its
    // first layer, such as a dead letter, has a duration but no finished chain.
    const shown = durationMs === undefined ? turn.chain : { ...chain, totalMs: durationMs };
    return this.chain(shown, Date.parse(startedAt), instanceKey, notes);
  }

  /** Renders a turn that this turn called. It has messages of its own. */
  private called(turn: TurnTrace): Line[] {
    return new Renderer(this.options, knownMessages(turn.chain), hasSeveralPlans(turn)).turn(turn);
  }

  /** Renders a chain. `turnStart`: the start of its turn in milliseconds, to place called turns. */
  chain(chain: ChainRecord, turnStart: number, instanceKey = '', notes: readonly string[] = []): Line[] {
    const { kind, totalMs, isUnfinished } = chain;
    const label = nameChain(chain);
    const name = instanceKey === '' || instanceKey === 'default' ? label : `${label} (${instanceKey})`;
    const time = isUnfinished === true ? 'unfinished' : describeDuration(totalMs);
    const title = `${this.paint('kind', kind)} ${this.paint('name', shortLine(name))} ${this.paint('time', time)}`;
    // A turn and a retried step show their error in any case.
    const isPassedOn = hasPassedOn(chain) && kind !== 'turn' && chain.retryMs === undefined;
    const inside = [
      ...this.taken(chain),
      ...this.chainNotes(chain, isPassedOn),
      ...notes,
      ...this.layers(chain.layers, chain, turnStart),
    ];
    const start = `${title}${this.details(chain, turnStart)}${this.mark(isPassedOn)}`;
    const { input } = chain;
    const first =
      this.isFull || input === undefined ? start : { start, rest: shortLine(input), paint: this.painter('time') };
    return [first, ...indent(inside)];
  }

  /** Renders each layer around the layers inside it; the innermost layer contains the work of the core. */
  private layers(layers: readonly LayerRecord[], chain: ChainRecord, turnStart: number): Line[] {
    const [outermost, ...inner] = layers;
    if (outermost === undefined) return this.core(chain, turnStart);
    const { extension, name, kind, ownMs } = outermost;
    const title = shortLine(name === kind ? extension : `${extension} · ${name}`);
    const isPassedOn = hasPassedOn(chain, outermost);
    const waited = describeWait(outermost);
    const time = this.paint('time', `own ${describeDuration(ownMs)}${waited === undefined ? '' : `, ${waited}`}`);
    return [
      `${this.paint('name', title)} ${time}${this.mark(isPassedOn)}`,
      ...indent([...this.layer(outermost, isPassedOn), ...this.layers(inner, chain, turnStart)]),
    ];
  }

  private core(chain: ChainRecord, turnStart: number): Line[] {
    const { layersMore = 0 } = chain;
    const more = layersMore === 0 ? [] : [this.paint('time', `… ${layersMore} more layers, not recorded`)];
    return [
      ...more,
      ...childrenOf(chain, turnStart).flatMap((child) =>
        isTurn(child) ? this.called(child) : this.chain(child, turnStart),
      ),
    ];
  }

  /** Returns a mark for a chain or layer that passed on the error of something inside it, where the error is shown. */
  private mark(isPassedOn: boolean): string {
    return isPassedOn ? ` ${this.paint('time', '↑ passed it on')}` : '';
  }

  private layer(layer: LayerRecord, isPassedOn: boolean): Line[] {
    const { changed, emitted, emittedMore, messages, resultChanged, isCut, outcome, notes = [] } = layer;
    return [
      ...notes.map((note) => this.paint('error', `! ${shortLine(note)}`)),
      ...changed.flatMap((change) => this.change('~', change)),
      ...this.events(emitted, messages),
      ...(emittedMore === 0 ? [] : [this.paint('change', `+ ${emittedMore} more`)]),
      ...(this.isFull ? messages.flatMap((message) => this.change('»', message)) : []),
      ...resultChanged.flatMap((change) => this.change('←', change)),
      ...(isCut === true ? [this.paint('time', '… more changes, not recorded')] : []),
      ...(outcome === 'short_circuit' ? [this.paint('change', '⊘ did not call next()')] : []),
      ...(outcome === 'running' ? [this.paint('time', '… was running')] : []),
      ...(outcome === 'skipped' ? [this.paint('error', `skipped: ${failureOf(layer)}`)] : []),
      ...(outcome === 'failed' && !isPassedOn ? [this.paint(styleOf(layer), `✗ ${failureOf(layer)}`)] : []),
      ...this.stack(layer),
    ];
  }

  /** Renders message events: in the short form with the first words of their messages, otherwise with ids. */
  private events(emitted: readonly string[], messages: readonly Change[]): Line[] {
    if (this.isFull) return emitted.map((event) => this.paint('change', `+ ${shortLine(event)}`));
    return showEvents(emitted, messages, this.texts).map(({ what, words }) => {
      const start = this.paint('change', `+ ${shortLine(what)}${words === undefined ? '' : ':'}`);
      return words === undefined ? start : { start, rest: shortLine(words), paint: this.painter('change') };
    });
  }

  /** Renders the inputs that came in while the turn ran, in the step that saw them first. */
  private taken({ took = [] }: ChainRecord): Line[] {
    return took.map(({ source, input }) => ({
      start: this.paint('change', `+ input from ${shortLine(source.name)} while the turn ran:`),
      rest: shortLine(input),
      paint: this.painter('change'),
    }));
  }

  private painter(style: 'time' | 'change'): (text: string) => string {
    return (text) => this.paint(style, text);
  }

  /**
   * Returns the notes below the title of a chain. A turn and a retried step always show their error here, even if
   * something inside them shows it, too.
   */
  private chainNotes(chain: ChainRecord, isPassedOn: boolean): string[] {
    const { kind, error, retryMs, outcome } = chain;
    const lost = chain.request?.cacheLost;
    const cache = lost === undefined ? [] : [this.paint('change', `! ${shortLine(describeCacheLoss(lost))}`)];
    if (kind === 'model' && outcome === 'length')
      return [this.paint('error', '! cut off at its limit of tokens'), ...cache];
    if (error === undefined || isPassedOn) return cache;
    const retried = retryMs === undefined ? '' : ` (tried again ${describeDelay(retryMs)})`;
    return [this.paint(styleOf(chain), `✗ ${failureOf(chain)}${retried}`), ...this.stack(chain)];
  }

  private stack({ stack }: Pick<LayerRecord, 'stack'>): string[] {
    if (!this.isFull || stack === undefined) return [];
    return wholeText(' ', stack).map((frame) => this.paint('error', frame));
  }

  private details(chain: ChainRecord, turnStart: number): string {
    const { tokens, input, outcome, plan, limitMs = 0, reservedTokens, limitWait, askedMs } = chain;
    const waited = describeWait(chain);
    const planned = this.showsPlans && plan !== undefined ? [`plan ${shortLine(shortDigest(plan))}`] : [];
    const used = [
      ...planned,
      ...(limitWait === undefined ? [] : [this.wait(limitWait, turnStart)]),
      ...(askedMs === undefined ? [] : [`asked a person at ${this.timeAt(turnStart + askedMs)}`]),
      ...(waited === undefined ? [] : [waited]),
      ...(limitMs < 10 ? [] : [`waited ${describeDuration(limitMs)} for a limit`]),
      ...(tokens === undefined ? [] : [describeTokens(tokens)]),
      ...(reservedTokens === undefined ? [] : [`${reservedTokens} reserved`]),
    ];
    if (!this.isFull) return used.map((text) => this.paint('time', `, ${text}`)).join('');
    const said = [...(input === undefined ? [] : [input]), ...(outcome === undefined ? [] : [outcome]), ...used];
    return said.map((text) => ` ${this.paint('time', shortLine(text))}`).join('');
  }

  private wait({ limit, startMs }: NonNullable<ChainRecord['limitWait']>, turnStart: number): string {
    return `waiting for ${shortLine(limit)} since ${this.timeAt(turnStart + startMs)}`;
  }

  private timeAt(ms: number): string {
    return this.options.time(new Date(ms).toISOString());
  }

  private turnNotes(turn: TurnTrace): string[] {
    const { resumes, missing, chain, error, truncated, output, ending, extensions = [], turnPlans = [] } = turn;
    const times = resumes === 1 ? 'once' : `${resumes} times`;
    const notes = [
      ...(resumes === 0
        ? []
        : [`was interrupted ${times}, and went on: records that were not written before are missing`]),
      ...(turnPlans.length === 0
        ? []
        : [
            `its turn layers ran with the plans ${turnPlans.map((plan) => shortLine(shortDigest(plan))).join(', then ')}`,
          ]),
      ...(missing.isCut ? ['its file reached the size limit: later records are missing'] : []),
      ...(missing.lines === 0
        ? []
        : [`${missing.lines} ${missing.lines === 1 ? 'record is' : 'records are'} missing or damaged`]),
      ...(missing.chains === 0 ? [] : [`${missing.chains} more chains, not recorded`]),
    ];
    // The turn failed before its first layer, or outside its layers.
    const style = ending === 'cancelled' ? 'time' : 'error';
    const failure = error === undefined || chain.error !== undefined ? [] : [this.paint(style, `✗ ${failureOf(turn)}`)];
    const limit = truncated === true ? [this.paint('error', '! its answer is truncated')] : [];
    const answer = output === undefined ? [] : [this.paint('time', `= ${shortLine(output)}`)];
    const parts = extensions.flatMap((status) => this.status(status));
    const used = this.turnUsage(turn);
    return [
      ...failure,
      ...limit,
      ...answer,
      ...used,
      ...notes.map((note) => this.paint('time', `… ${note}`)),
      ...parts,
    ];
  }

  /** Renders the tokens of a turn: all of them, and apart if it called other agents. */
  private turnUsage({ usage, called }: TurnTrace): string[] {
    if (usage === undefined || usage.totalTokens === 0) return [];
    return [this.paint('time', `… ${describeTurnUsage({ usage, ...defined({ called }) })}`)];
  }

  /** Renders a connected server as a plain line, and any other server with the reason and the last lines it printed. */
  private status(status: ExtensionStatusChanged): string[] {
    const [first = '', ...more] = describeExtensionStatus(status, this.options.time).map(shortLine);
    if (status.state !== 'failed' && status.state !== 'reconnecting') return [this.paint('time', `⇄ ${first}`)];
    return [this.paint('error', `✗ ${first}`), ...more.map((line) => this.paint('time', `  ${line}`))];
  }

  private change(sign: string, { path, before, after }: Change): string[] {
    const name = path === '' ? 'all of it' : shortLine(path);
    if (!this.isFull) return [this.paint('change', `${sign} ${name}${describeShort(before, after)}`)];
    const values = [
      ...(before === undefined ? [] : wholeText('−', before)),
      ...(after === undefined ? [] : wholeText('+', after)),
    ];
    return [this.paint('change', `${sign} ${name}`), ...values.map((line) => this.paint('change', `    ${line}`))];
  }
}

/** Returns true if the turn layers and the steps of a turn ran with more than one plan. */
function hasSeveralPlans(turn: TurnTrace | ChainRecord): boolean {
  const [chain, earlier] = isTurn(turn) ? [turn.chain, turn.turnPlans ?? []] : [turn, []];
  const plans = [chain, ...chain.inside].flatMap(({ plan }) => plan ?? []);
  return new Set([...plans, ...earlier]).size > 1;
}

function describeDelay(delayMs: number): string {
  return delayMs === 0 ? 'at once' : `after ${describeDuration(delayMs)}`;
}

/** Returns the style of a failure. A cancel is not shown as an error. */
function styleOf({ isCancelled }: Pick<ChainRecord, 'isCancelled'>): 'time' | 'error' {
  return isCancelled === true ? 'time' : 'error';
}

/** Formats an error, such as `E_EXT_MIDDLEWARE: rules is not defined (extensions/house-rules.ts:14:7)`. */
function failureOf({ error = '', place }: Pick<LayerRecord, 'error' | 'place'>): string {
  return place === undefined ? shortLine(error) : `${shortLine(error)} (${shortLine(placeText(place))})`;
}

function describeShort(before: string | undefined, after: string | undefined): string {
  if (before === undefined) return ` added: ${shortLine(after ?? '')}`;
  if (after === undefined) return ' removed';
  return `: ${shortLine(before)} → ${shortLine(after)}`;
}
