/** The reason why a provider could not read from its cache what the last request had left there. */

/** A type alias, because an interface would not count as JSON. */
export type CacheLoss = {
  /** The first part of the request that differs from the last request. */
  readonly at: 'model' | 'params' | 'tools' | 'system prompt' | 'message';
  /** The position of the message in its request, counted from 0; absent for other parts. */
  readonly position?: number;
  readonly by: CacheLossCause;
  /** The difference, as in `replaced it`. */
  readonly did: string;
  /** The number of tokens that were in the cache and were not read. */
  readonly tokens: number;
};

/** A type alias, because an interface would not count as JSON. */
export type CacheLossCause = {
  /** `input`: a person or another sender. `bundle`: the bundle was changed and read again. */
  readonly kind: 'extension' | 'tool' | 'model' | 'input' | 'bundle' | 'runtime';
  readonly name?: string;
};

/** @example describeCacheLoss(loss) // 'cache lost at message 4: `skills` replaced it' */
export function describeCacheLoss({ at, position, by, did }: CacheLoss): string {
  const place = position === undefined ? `the ${at}` : `message ${position}`;
  return `cache lost at ${place}: ${by.name === undefined ? `the ${by.kind}` : `\`${by.name}\``} ${did}`;
}
