/** What a person can allow for always, in one conversation. Every door offers the same choices. */
import type { ConnectorQuestion } from './connector-question.ts';
import type { JsonObject, JsonValue } from './json.ts';

/**
 * From the least to the most: the tool with exactly these arguments, the tool with any arguments whose URL goes to the same
 * host, and the tool with any arguments.
 */
export const alwaysScopes = ['arguments', 'host', 'tool'] as const;

export type AlwaysScope = (typeof alwaysScopes)[number];

/** Returns the choices that a person has when they approve this for always. */
export function alwaysScopesOf(asked: Pick<ConnectorQuestion, 'kind' | 'args' | 'schema'>): readonly AlwaysScope[] {
  if (asked.kind !== 'call') return [];
  return alwaysScopes.filter((scope) => scope !== 'host' || hostOf(asked) !== undefined);
}

/**
 * Returns the host to which a call goes, with scheme and port, such as `https://example.com`. Returns `undefined` unless the
 * arguments have exactly one URL, it is the argument `url` or one whose schema has `format: uri`, and its host is written
 * plainly. So no program can read another host from it: it has no user, no backslash and no invisible character.
 */
export function hostOf({ args, schema }: Pick<ConnectorQuestion, 'args' | 'schema'>): string | undefined {
  const [url, ...others] = textsIn(args).filter((text) => beginsAsUrl.test(text.replaceAll(invisible, '')));
  if (url === undefined || others.length > 0 || !urlArguments(args, schema).includes(url)) return undefined;
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(url)) return undefined;
  const [host] = /^https?:\/\/[a-z0-9.-]+(?::\d+)?(?=\/|$)/.exec(url) ?? [];
  return host !== undefined && URL.canParse(host) && new URL(host).origin === host ? host : undefined;
}

/** Parsers of URLs skip tabs and line breaks, also inside. */
const invisible = /[\p{Cc}\p{Cf}]/gu;

/** Matches also what only careless programs read as a URL. */
const beginsAsUrl = /^[^\p{L}\p{N}]*(?:(?:https?|wss?|ftp|file):|(?:[a-z][\w+.-]*:)?[/\\]{2})/iu;

function textsIn(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item ?? null)]);
}

function urlArguments(args: JsonObject, schema: JsonObject = {}): readonly (JsonValue | undefined)[] {
  const isUri = (name: string) => fieldOf(fieldOf(schema.properties, name), 'format') === 'uri';
  return Object.keys(args).flatMap((name) => (name === 'url' || isUri(name) ? [args[name]] : []));
}

function fieldOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.hasOwn(value, name) ? value[name] : undefined;
}
