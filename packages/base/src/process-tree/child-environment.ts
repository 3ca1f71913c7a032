/**
 * The environment of a started process: a few variables that programs need, those that the bundle declares, and the
 * tags by which the processes of a swarm are found. It has nothing else of the agent's environment, and so none of its
 * secrets.
 */

/** Folders, names and the language. */
const inherited: readonly string[] = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'TMPDIR'];
const tags: readonly string[] = ['GOONDAN_RUN', 'GOONDAN_CHILD'];

export type Environment = Readonly<Record<string, string | undefined>>;

/** `also` lists further names to pass on. The tags come last, so no declaration overrides them. */
export function childEnvironment(
  own: Environment,
  declared: Readonly<Record<string, string>>,
  also: readonly string[] = [],
): Record<string, string> {
  const locales = Object.keys(own).filter((name) => name.startsWith('LC_'));
  return { ...pick(own, [...inherited, ...also, ...locales]), ...declared, ...pick(own, tags) };
}

/**
 * Makes the environment of a command: without colours and questions, and with a tag of its own, by which it is ended.
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
