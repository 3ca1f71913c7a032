import { GoondanError } from '@goondan/types';
import { readSecretText } from './read-secret-text.ts';

/**
 * Returns the token of `GOONDAN_CLUSTER_TOKEN`, which may be `@` and the path of a private file; `undefined` when it is
 * not set. **Errors** — `E_CLUSTER_TOKEN`.
 */
export function readClusterToken(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const given = environment['GOONDAN_CLUSTER_TOKEN'];
  if (given === undefined || given === '') return undefined;
  return readSecretText(given, 'The token in GOONDAN_CLUSTER_TOKEN', 'E_CLUSTER_TOKEN');
}

/** **Errors** — `E_CLUSTER_TOKEN` when no token is set, and those of `readClusterToken`. */
export function needClusterToken(environment: Readonly<Record<string, string | undefined>>): string {
  const token = readClusterToken(environment);
  if (token !== undefined) return token;
  throw new GoondanError(
    'E_CLUSTER_TOKEN',
    'GOONDAN_CLUSTER_TOKEN is not set, and the nodes of a swarm need a token.',
    {
      suggestion:
        'Set it to the token, or to @FILE with the token. `gdn store init` makes the first one, `gdn store token add NAME` another one.',
    },
  );
}
