/**
 * What a server finds in its environment: a few variables that programs need to run at all, what is declared for it, and
 * the tags by which the processes of a swarm are found again. Nothing else of the agent's environment, which holds what
 * the agent was given and not what its servers were.
 */
const inherited: readonly string[] = [
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
];

const tags: readonly string[] = ['GOONDAN_RUN', 'GOONDAN_CHILD'];

export type Environment = Readonly<Record<string, string | undefined>>;

/** The tags are last: nobody declares them away. */
export function serverEnvironment(
  own: Environment,
  declared: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = [...inherited, ...Object.keys(own).filter((name) => name.startsWith('LC_'))];
  return { ...pick(own, names), ...declared, ...pick(own, tags) };
}

function pick(own: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = own[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
