/**
 * The environment of a child process: a few standard variables, the variables that the bundle declares, and the tags by
 * which the processes of a swarm are found. It contains nothing else of the agent's environment, and so none of its
 * secrets.
 */

/** Standard variables: folders, user names and the language. */
const inherited: readonly string[] = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'TMPDIR'];
const tags: readonly string[] = ['GOONDAN_RUN', 'GOONDAN_CHILD'];

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Makes the environment. `also` lists more variables to pass on. The tags are added last, so that no declared variable
 * overrides them.
 */
export function childEnvironment(
  own: Environment,
  declared: Readonly<Record<string, string>>,
  also: readonly string[] = [],
): Record<string, string> {
  const locales = Object.keys(own).filter((name) => name.startsWith('LC_'));
  return { ...pick(own, [...inherited, ...also, ...locales]), ...declared, ...pick(own, tags) };
}

/**
 * Creates the environment of a command: without colours and prompts, and with a tag of its own, by which the command's
 * processes are found and ended.
 */
export function commandEnvironment(
  own: Environment,
  declared: Readonly<Record<string, string>>,
  tag: string,
): Record<string, string> {
  const [name = '', value = ''] = tag.split('=');
  return { ...childEnvironment(own, { TERM: 'dumb', ...declared }), [name]: value };
}

function pick(own: Environment, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = own[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
