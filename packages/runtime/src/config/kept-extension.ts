/** Decides which extensions keep a connection in a keeper process, and when two declarations mean the same connection. */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isPlainObject } from '../json/copy-json.ts';
import { digestJson } from '../json/digest-json.ts';
import type { DeclaredAgent } from './declared-agent.ts';
import type { DeclaredExtension } from './declared-extension.ts';
import { mergeConfig } from './merge-config.ts';

/** An extension whose connection is kept. */
export interface KeptExtension {
  readonly declaration: DeclaredExtension;
  /** The name of the extension in the agent. */
  readonly name: string;
  /** The path of the keeper's module. */
  readonly entry: string;
  readonly config: JsonObject;
  /** `agent`: all instances of the agent share the connection. */
  readonly scope: 'instance' | 'agent';
  /** A hash of everything whose change ends the connection. */
  readonly digest: string;
}

/** Lists the extensions of an agent that keep a connection. Only a config with `attach.mode: stateful` keeps one. */
export function keptExtensions(agent: DeclaredAgent): readonly KeptExtension[] {
  const { extensions = [], environment = {}, bundleFolder = '', workdir = '' } = agent;
  const variables = { ...environment, GOONDAN_BUNDLE: bundleFolder, GOONDAN_WORKDIR: workdir };
  return extensions.flatMap((declaration): KeptExtension[] => {
    const entry = declaration.keeper?.entry;
    if (entry === undefined) return [];
    const { metadata, spec } = declaration.resource;
    const config = mergeConfig(spec.config ?? {}, declaration.config ?? {});
    const attach = isPlainObject(config.attach) ? config.attach : {};
    if (attach.mode !== 'stateful') return [];
    const scope = attach.scope === 'agent' ? 'agent' : 'instance';
    const digest = connectionDigest(declaration, config, variables);
    return [{ declaration, name: metadata.name, entry, config, scope, digest }];
  });
}

/** Lists the extensions whose kept connection ends with a change of the agent, because it is gone or another one. */
export function endedConnections(running: DeclaredAgent, wanted: DeclaredAgent): readonly string[] {
  const stay = new Map(keptExtensions(wanted).map(({ name, digest }) => [name, digest]));
  return keptExtensions(running).flatMap(({ name, digest }) => (stay.get(name) === digest ? [] : [name]));
}

/**
 * Hashes the fields that determine the connection, with the variables that they use. Other settings, such as timeouts,
 * can change while the connection stays open.
 */
function connectionDigest(
  { root, keeper, digest = '' }: DeclaredExtension,
  { transport = null, fromFile = null, attach = null, expose = null }: JsonObject,
  known: Readonly<Record<string, string>>,
): string {
  // The keeper itself follows the variables and the working folder that an entry of a file uses.
  const isUsed = (name: string) => mentions(transport ?? '${GOONDAN_BUNDLE}', name);
  const variables = Object.fromEntries(Object.entries(known).filter(([name]) => isUsed(name)));
  // The digest of the module is included, because a keeper and an agent must run the same version of it.
  return digestJson({ root, entry: keeper?.entry ?? '', digest, transport, fromFile, attach, expose, variables });
}

/**
 * Variables that a server or its connection uses, even if its transport does not name them: those that the extension
 * `mcp` passes on. Those of proxies count too.
 */
const passedOn: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'SHELL',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]);

function mentions(transport: JsonValue, name: string): boolean {
  if (passedOn.has(name) || /_proxy$/i.test(name) || name.startsWith('LC_')) return true;
  const text = JSON.stringify(transport);
  return text.includes(`\${${name}}`) || text.includes(`\${${name}:-`);
}
