/**
 * Marks the places up to which a provider keeps a prompt in its cache. The marks follow from the request alone, so the
 * same request always has the same body:
 *
 * 1. The last stable message, because the next request begins with everything up to it. If the last reply and its
 *    results have too many blocks for the provider to look back, also the message before that reply.
 * 2. The last stable system message, and the last tool. They are still cached when the messages change.
 * 3. A prompt that is shorter than the provider's minimum has no marks.
 * 4. Marks of layers and of `providerOptions` stay as they are, and count.
 * 5. A call by a layer gets no marks, because nobody knows whether its prompt is used again.
 *
 * A system message goes to the front of the request, unless it is sent in place. If it is not stable, nothing after it
 * is worth a mark.
 */
import type { ModelMessage, ProviderOptions } from '@goondan/types';
import type { ModelRequest } from '../model-port.ts';
import type { SystemPlacement } from './to-prompt.ts';

/** The rules of a provider that caches only up to marks. */
export interface CacheRules {
  /** The name of the provider in `providerOptions`. */
  readonly provider: string;
  /** The maximum number of marks in a request. */
  readonly mostMarks: number;
  /** The number of blocks before a mark in which the provider looks for the end of an older entry. */
  readonly lookback: number;
  /** The minimum number of tokens of a prompt that the model caches. */
  leastTokens(modelId: string): number;
}

export interface MarkedRequest {
  readonly messages: readonly ModelMessage[];
  /** True if the last tool gets a mark. */
  readonly marksTools: boolean;
}

interface Cache extends Omit<CacheRules, 'leastTokens'> {
  readonly leastTokens: number;
}

interface Asked extends Pick<ModelRequest, 'messages' | 'tools'> {
  readonly stableCount: number;
}

export function setBreakpoints(
  request: Asked,
  placement: SystemPlacement,
  cache: Cache,
  options: ProviderOptions | undefined,
): MarkedRequest {
  const { messages } = request;
  const isMarked = (holder: { providerOptions?: ProviderOptions }) => hasMark(holder.providerOptions, cache.provider);
  const left = cache.mostMarks - countMarks(messages, isMarked) - (hasMark(options, cache.provider) ? 1 : 0);
  const places = placesOf(request, placement, cache).slice(0, Math.max(0, left));
  const marked = messages.slice();
  for (const place of places) {
    const message = place === 'tools' ? undefined : messages[place];
    if (place === 'tools' || message === undefined || isMarked(message)) continue;
    marked[place] = { ...message, ...breakpoint(cache.provider, message.providerOptions) };
  }
  return { messages: marked, marksTools: places.includes('tools') };
}

/** Returns the options of a message or tool with a mark. */
export function breakpoint(provider: string, options: ProviderOptions = {}): { providerOptions: ProviderOptions } {
  return {
    providerOptions: { ...options, [provider]: { ...options[provider], cacheControl: { type: 'ephemeral' } } },
  };
}

/** Returns the places of the marks, the most useful first: positions of messages, and the tools. */
function placesOf(request: Asked, placement: SystemPlacement, cache: Cache): (number | 'tools')[] {
  const { messages, tools, stableCount } = request;
  const inFront = placement !== 'in-place';
  const isFrontStable = !inFront || !messages.slice(stableCount).some(({ role }) => role === 'system');
  const system = findLast(messages, stableCount, (message) => message.role === 'system');
  const last = findLast(messages, stableCount, (message) => isMessage(message, inFront));
  const counter = new Counter(cache.leastTokens);
  const places: (number | 'tools')[] = [];
  counter.add(tools);
  if (counter.isEnough) places.unshift('tools');
  for (let at = 0; at <= system && !counter.isEnough; at++)
    if (messages[at]?.role === 'system') counter.add(messages[at]);
  if (counter.isEnough && system >= 0 && (isFrontStable || placement !== 'joined')) places.unshift(system);
  for (let at = 0; at <= last && !counter.isEnough; at++)
    if (messages[at]?.role !== 'system') counter.add(messages[at]);
  if (!counter.isEnough || last < 0 || !isFrontStable) return places;
  const before = beforeLastReply(messages, last, inFront, cache.lookback);
  return [last, ...places, ...(before < 0 ? [] : [before])];
}

/** Returns the position before the last reply, if there are too many blocks between it and `last`; otherwise -1. */
function beforeLastReply(messages: readonly ModelMessage[], last: number, inFront: boolean, lookback: number): number {
  let blocks = 0;
  let at = last;
  while (at >= 0) {
    const message = messages[at];
    if (message === undefined) break;
    blocks += typeof message.content === 'string' ? 1 : message.content.length;
    at--;
    if (message.role === 'assistant') break;
  }
  return blocks < lookback ? -1 : findLast(messages, at + 1, (message) => isMessage(message, inFront));
}

/** Returns the last position before `end` whose message fits and can have a mark, or -1. */
function findLast(messages: readonly ModelMessage[], end: number, fits: (message: ModelMessage) => boolean): number {
  for (let at = Math.min(end, messages.length) - 1; at >= 0; at--) {
    const message = messages[at];
    if (message !== undefined && fits(message) && canHaveMark(message)) return at;
  }
  return -1;
}

function isMessage({ role }: ModelMessage, inFront: boolean): boolean {
  return role !== 'system' || !inFront;
}

/** A provider gets no empty texts, and refuses a mark on reasoning. */
function canHaveMark({ content }: ModelMessage): boolean {
  if (typeof content === 'string') return content !== '';
  const part = content.at(-1);
  if (part === undefined || part.type === 'reasoning' || part.type === 'custom') return false;
  return part.type !== 'text' || part.text !== '';
}

function countMarks(
  messages: readonly ModelMessage[],
  isMarked: (holder: { providerOptions?: ProviderOptions }) => boolean,
): number {
  let count = 0;
  for (const message of messages) {
    if (message.providerOptions !== undefined && isMarked(message)) count++;
    if (typeof message.content === 'string') continue;
    for (const part of message.content) if (part.providerOptions !== undefined && isMarked(part)) count++;
  }
  return count;
}

function hasMark(options: ProviderOptions | undefined, provider: string): boolean {
  const own = options?.[provider];
  return own !== undefined && (own['cacheControl'] ?? own['cache_control'] ?? null) !== null;
}

/**
 * Estimates tokens until there are enough, and reads no further. The estimate is rather too high: a mark on a prompt that
 * is too short costs nothing, and a missing mark costs the whole price.
 */
class Counter {
  #left: number;

  constructor(tokens: number) {
    this.#left = tokens * BYTES_OF_A_TOKEN;
  }

  get isEnough(): boolean {
    return this.#left <= 0;
  }

  add(value: unknown): void {
    if (this.isEnough) return;
    if (typeof value === 'string') this.#left -= Buffer.byteLength(value.slice(0, this.#left));
    else if (typeof value !== 'object' || value === null) this.#left -= BYTES_OF_A_TOKEN;
    else for (const part of Object.values(value)) this.add(part);
  }
}

const BYTES_OF_A_TOKEN = 3;
