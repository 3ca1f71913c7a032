/** Describes a band: the text on it, and the label for screen readers. */
import type { ChainRecord, LayerRecord } from '@goondan/cli/studio';
import { showText } from '../text/show-text.ts';
import { describeDuration } from '../time/describe-time.ts';
import { type Band, countChanges } from './bands.ts';

type Tokens = NonNullable<ChainRecord['tokens']>;
type GivenAnswer = NonNullable<LayerRecord['answers']>[number];
type CacheLoss = NonNullable<NonNullable<ChainRecord['request']>['cacheLost']>;

export interface BandMark {
  readonly text: string;
  readonly tone: 'plain' | 'change' | 'wait' | 'bad';
}

const outcomes: Readonly<Record<LayerRecord['outcome'], readonly BandMark[]>> = {
  passed: [],
  running: [{ text: 'running', tone: 'plain' }],
  short_circuit: [{ text: 'short circuit', tone: 'plain' }],
  skipped: [{ text: 'skipped', tone: 'bad' }],
  failed: [{ text: 'failed', tone: 'bad' }],
};

const cancelled: readonly BandMark[] = [{ text: 'cancelled', tone: 'plain' }];
const passedOn: readonly BandMark[] = [{ text: 'passed it on', tone: 'plain' }];

export function marksOf(band: Band): readonly BandMark[] {
  if (band.type === 'chain') {
    const { error, isUnfinished, isCancelled, retryMs, kind, outcome, request, askedMs, limitWait } = band.chain;
    if (isCancelled === true) return cancelled;
    if (error !== undefined) {
      if (band.passedOn && retryMs === undefined && kind !== 'turn') return passedOn;
      return [{ text: retryMs === undefined ? 'failed' : 'tried again', tone: band.passedOn ? 'plain' : 'bad' }];
    }
    const isTruncated = band.turn?.truncated === true || (kind === 'model' && outcome === 'length');
    if (isTruncated) return [{ text: 'truncated', tone: 'change' }];
    if (request?.cacheLost !== undefined) return [{ text: 'cache lost', tone: 'change' }];
    if (askedMs !== undefined) return [{ text: 'waits for a person', tone: 'wait' }];
    if (limitWait !== undefined) return [{ text: 'waits for a rate limit', tone: 'wait' }];
    return isUnfinished === true ? outcomes.running : [];
  }
  const count = countChanges(band.layer);
  const changes: BandMark = { text: count === 1 ? '1 change' : `${count} changes`, tone: 'change' };
  // A newer runtime may record outcomes that this page does not know.
  const ended = outcomes[band.layer.outcome] ?? [];
  const end = band.layer.isCancelled === true ? cancelled : band.passedOn ? passedOn : ended;
  return [...(count === 0 ? [] : [changes]), ...end];
}

/** Returns the kind of a chain; empty for a layer, which shows only its name. */
export function kindWordOf({ type, kind }: Band): string {
  if (type === 'layer') return '';
  return kind === 'toolCall' ? 'tool' : kind;
}

export function titleOf({ type, kind, title }: Band): string {
  return type === 'chain' && kind === 'step' ? title.replace('step ', '') : title;
}

/** Returns the duration of a band; an empty text while it runs. */
export function timeOf(band: Band): string {
  if (isRunning(band)) return '';
  const [time, part] =
    band.type === 'chain'
      ? [describeDuration(band.totalMs), band.chain]
      : [`own ${describeDuration(band.layer.ownMs)}`, band.layer];
  const waited = describeWait(part);
  return waited === undefined ? time : `${time}, ${waited}`;
}

/** Describes how long a layer or a tool waited for people, and their answers; `undefined` if it asked nobody. */
export function describeWait({
  waitedMs,
  answers = [],
}: Pick<LayerRecord, 'waitedMs' | 'answers'>): string | undefined {
  if (waitedMs === undefined) return undefined;
  const words = answers.map(describeAnswer);
  // Nobody was asked about a call that is always allowed.
  if (answers.length > 0 && answers.every(({ grant }) => grant !== undefined)) return words.join(', ');
  return `waited for a person ${[describeDuration(waitedMs), ...words].join(', ')}`;
}

/** Describes the answer of a person, as in `approved by ann via chat`. The details show changed arguments. */
export function describeAnswer(answer: GivenAnswer): string {
  const { kind, decision, by, via, args, question, grant, afterMs } = answer;
  // Names come from clients of the swarm.
  const who = showText(`${by === undefined ? '' : ` by ${by}`}${via === undefined ? '' : ` via ${via}`}`);
  if (grant !== undefined) return `always allowed${who} (${grant})`;
  const after = afterMs === undefined ? '' : ` after ${describeDuration(afterMs)}`;
  const verdict = `${kind === undefined ? decision : verdicts[decision]}${who}${after}`;
  if (args === undefined) return verdict;
  return `${verdict} with other arguments${question === undefined ? '' : ` (${question})`}`;
}

/** The end of a question about a form or a page. */
const verdicts = { approved: 'answered', denied: 'declined', expired: 'expired' } as const;

/** Describes the tokens of a model call, and those that the provider read from its cache or wrote to it. */
export function describeTokens({ input, output, cacheRead = 0, cacheWrite = 0 }: Tokens): readonly string[] {
  return [
    `${input} → ${output} tokens`,
    ...(cacheRead === 0 ? [] : [`${cacheRead} from the cache`]),
    ...(cacheWrite === 0 ? [] : [`${cacheWrite} to the cache`]),
  ];
}

/** Describes why the provider could not read its cache, such as ``cache lost at message 4: `skills` replaced it``. */
export function describeCacheLoss({ at, position, by, did }: CacheLoss): string {
  const place = position === undefined ? `the ${at}` : `message ${position}`;
  return `cache lost at ${place}: ${by.name === undefined ? `the ${by.kind}` : `\`${by.name}\``} ${did}`;
}

export function isRunning(band: Band): boolean {
  return band.type === 'layer' ? band.layer.outcome === 'running' : band.chain.isUnfinished === true;
}

export function errorOf(band: Band): string | undefined {
  return band.type === 'layer' ? band.layer.error : band.chain.error;
}

/** Returns true for the band in which an error began. */
export function hasFailed(band: Band): boolean {
  if (band.passedOn) return false;
  if (band.type === 'layer') return band.layer.outcome === 'failed' && band.layer.isCancelled !== true;
  return band.chain.error !== undefined && band.chain.isCancelled !== true;
}

/** Formats a label, such as `turn concierge, 321 ms` or `memory, 1 change, own 0.27 ms`. */
export function describeBand(band: Band): string {
  const name = `${kindWordOf(band)} ${titleOf(band)}`.trim();
  return [name, ...marksOf(band).map(({ text }) => text), timeOf(band)].filter((text) => text !== '').join(', ');
}
