/**
 * Checks `options` of a Model with one of the four providers: every key must be known, and every value must have the
 * right type.
 */
import { GoondanError, type JsonObject, type ProviderOptions } from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import type { SystemPlacement } from './to-prompt.ts';

export interface CallSettings {
  /** If true, replies are streamed. */
  readonly stream: boolean;
  readonly deadlines: typeof defaultDeadlines;
  readonly systemMessages: SystemPlacement;
  /** How the model gets the schema of an answer; chosen by provider and model when absent. */
  readonly schemaMode: 'native' | 'tool' | undefined;
  /** Extra headers for each request. */
  readonly headers: Record<string, string>;
  /** Provider options for every call; options of a single request win over them. */
  readonly providerOptions: ProviderOptions | undefined;
  /** If true, prompts get marks for the provider's cache. */
  readonly cache: boolean;
}

const defaultDeadlines = {
  /** The maximum time to wait for the next byte. */
  silenceMs: 120_000,
  /** The maximum time for the whole call. */
  totalMs: 600_000,
};
const placements: readonly SystemPlacement[] = ['in-place', 'front', 'joined'];
const schemaModes = ['native', 'tool'] as const;
const known = ['stream', 'timeouts', 'systemMessages', 'schemaMode', 'headers', 'providerOptions', 'cache'];

export function readProviderOptions(options: JsonObject, systemMessages: SystemPlacement, label: string): CallSettings {
  const refuse = (what: string) => new GoondanError('E_RESOURCE_INVALID', `Model ${label}: ${what}.`);
  const unknown = Object.keys(options).find((key) => !known.includes(key));
  if (unknown !== undefined) throw refuse(`options.${unknown} is not known; use ${known.join(', ')}`);

  const { stream = true, cache = true, timeouts = {}, headers = {}, providerOptions } = options;
  if (typeof stream !== 'boolean') throw refuse('options.stream must be true or false');
  if (typeof cache !== 'boolean') throw refuse('options.cache must be true or false');
  if (!isPlainObject(timeouts)) throw refuse('options.timeouts must be { silenceMs, totalMs }');
  if (!isPlainObject(headers) || !Object.values(headers).every((value) => typeof value === 'string')) {
    throw refuse('options.headers must map names to strings');
  }
  if (
    providerOptions !== undefined &&
    !(isPlainObject(providerOptions) && Object.values(providerOptions).every(isPlainObject))
  ) {
    throw refuse('options.providerOptions must map a provider to its options');
  }
  const placement = placements.find((name) => name === (options['systemMessages'] ?? systemMessages));
  if (placement === undefined) throw refuse(`options.systemMessages must be one of ${placements.join(', ')}`);

  const schemaMode = schemaModes.find((name) => name === options['schemaMode']);
  if (schemaMode === undefined && options['schemaMode'] !== undefined) {
    throw refuse(`options.schemaMode must be one of ${schemaModes.join(', ')}`);
  }

  const deadlines = { ...defaultDeadlines, ...timeouts };
  for (const [name, value] of Object.entries(deadlines)) {
    if (!(name in defaultDeadlines)) throw refuse(`options.timeouts.${name} is not known; use silenceMs, totalMs`);
    if (typeof value !== 'number' || !(value > 0)) throw refuse(`options.timeouts.${name} must be a number above 0`);
  }
  // Safe: each field was checked above.
  return {
    stream,
    cache,
    deadlines,
    systemMessages: placement,
    schemaMode,
    headers: headers as Record<string, string>,
    providerOptions: providerOptions as ProviderOptions | undefined,
  };
}
