/**
 * Builds the environment of a child: a short list of variables that programs need on this machine, the variables that
 * the resource declares, and the tags that identify the child. Bundle code gets no other variable of the operator.
 */
import { GoondanError } from '@goondan/types';
import { findVariableProblem } from '../../config/variable-name.ts';

/** Names of inherited variables: paths and network settings. */
const inheritedVariables: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
];

/** Variables with this prefix are inherited, too. */
const inheritedPrefix = 'LC_';

/** Builds the environment. Throws `E_RESOURCE_INVALID` for a declared variable with an invalid or reserved name. */
export function childEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  declared: Readonly<Record<string, string>>,
  tags: Readonly<Record<string, string>>,
): Record<string, string> {
  for (const [name, value] of Object.entries(declared)) checkDeclared(name, value);
  const inherited = Object.entries(own).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (inheritedVariables.includes(entry[0]) || entry[0].startsWith(inheritedPrefix)),
  );
  return { ...Object.fromEntries(inherited), ...declared, ...tags };
}

function checkDeclared(name: string, value: string): void {
  const problem = findVariableProblem(name);
  if (problem !== undefined) throw invalid(problem);
  if (value.includes('\0')) throw invalid(`the value of the environment variable ${name} holds a NUL`);
}

function invalid(problem: string): GoondanError {
  return new GoondanError('E_RESOURCE_INVALID', `A process cannot be started: ${problem}.`);
}
