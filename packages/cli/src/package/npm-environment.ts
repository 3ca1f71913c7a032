/**
 * The environment for npm: the variables that every child process of a swarm gets, the operator's npm settings, and the
 * variables that the operator's own `.npmrc` refers to. npm gets no other variables, because a `.npmrc` can send any
 * variable to a server, in an address or a header.
 */
import { join } from 'node:path';
import { childEnvironment, readTextFile } from '@goondan/runtime/internal';

type Environment = Readonly<Record<string, string | undefined>>;

/** Additional variables: for npm's progress display, and for git over ssh. */
const alsoInherited = ['TERM', 'NO_COLOR', 'FORCE_COLOR', 'SSH_AUTH_SOCK'];

const LARGEST = 1024 * 1024;

export function npmEnvironment(own: Environment): Record<string, string> {
  const wanted = new Set([...alsoInherited, ...namesIn(readUserConfig(own))]);
  const settings = Object.entries(own).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && (isSetting(entry[0]) || wanted.has(entry[0])),
  );
  return childEnvironment(own, {}, Object.fromEntries(settings));
}

function isSetting(name: string): boolean {
  return name.toLowerCase().startsWith('npm_config_');
}

function readUserConfig(own: Environment): string {
  const [, named] = Object.entries(own).find(([name]) => name.toLowerCase() === 'npm_config_userconfig') ?? [];
  const read = readTextFile(named ?? join(own['HOME'] ?? '/', '.npmrc'), LARGEST);
  return read.type === 'text' ? read.text : '';
}

/** Returns the names in `${NAME}` and `${NAME?}`; the question mark allows an unset variable. */
function namesIn(config: string): string[] {
  return [...config.matchAll(/\$\{([^}?]+)\??\}/g)].map(([, name = '']) => name);
}
