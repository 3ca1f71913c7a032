/** The options of a node: `gdn run` with a store. */
import { hostname } from 'node:os';
import { InvalidArgumentError } from 'commander';

export interface NodeOptions {
  readonly node?: string;
  readonly listen?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  /** The lease in seconds. */
  readonly lease?: number;
}

/** The default lease, in seconds. */
export const LEASE = 10;
const [SHORTEST, LONGEST] = [1, 600];
const LONGEST_NAME = 64;

/** Reads a number of seconds. */
export function readLease(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== '' && seconds >= SHORTEST && seconds <= LONGEST) return seconds;
  throw new InvalidArgumentError(`It is not a number of seconds from ${SHORTEST} to ${LONGEST}.`);
}

/** Reads the name of a node, which is a part of file names and of log lines. */
export function readNodeName(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(text) && text.length <= LONGEST_NAME) return text;
  throw new InvalidArgumentError(
    `It is not a name of at most ${LONGEST_NAME} letters, digits, dots, dashes and underscores.`,
  );
}

/** Returns the name of a node for which no name was given. */
export function defaultNodeName(): string {
  const name = hostname()
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '');
  return name.slice(0, LONGEST_NAME) || 'node';
}

/** Reads `HOST:PORT`; an IPv6 host is in brackets. */
export function readListen(text: string): string {
  const [, six, name, port] = /^(?:\[([0-9A-Fa-f:.]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const number = Number(port);
  if ((six ?? name) !== undefined && number >= 1 && number <= 65_535) return text;
  throw new InvalidArgumentError('It is not HOST:PORT, as in 0.0.0.0:7444.');
}

/**
 * Returns the problem of options that do not fit together, for the command to report; `undefined` when they fit.
 * `hasStore`: a store is named with `--store` or `GOONDAN_STORE`.
 */
export function findNodeProblem(
  options: NodeOptions & { readonly watch?: boolean },
  hasStore: boolean,
): string | undefined {
  const { node, listen, tlsCert, tlsKey, lease, watch = false } = options;
  const given = Object.entries({
    '--node': node,
    '--listen': listen,
    '--tls-cert': tlsCert,
    '--tls-key': tlsKey,
    '--lease': lease,
  });
  const [alone] = given.find(([, value]) => value !== undefined) ?? [];
  if (!hasStore) return alone === undefined ? undefined : `option '${alone}' needs option '--store', or GOONDAN_STORE`;
  if (tlsCert !== undefined && tlsKey === undefined) return "option '--tls-cert' needs option '--tls-key'";
  if (tlsKey !== undefined && tlsCert === undefined) return "option '--tls-key' needs option '--tls-cert'";
  if (tlsCert !== undefined && listen === undefined) return "option '--tls-cert' needs option '--listen'";
  return watch ? "option '--watch' does not work with a store: `gdn deploy` gives a bundle to all nodes" : undefined;
}
