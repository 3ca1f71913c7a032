/**
 * What a command finds in its environment: what programs need to run here, and what the bundle gives it. None of the
 * agent's own variables, and so none of its secrets.
 */

/** Where things are, and in which language. The last two are how everything an agent started is found when it is gone. */
const inherited = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'TZ', 'TMPDIR', 'GOONDAN_RUN', 'GOONDAN_CHILD'];

export function commandEnvironment(
  own: Readonly<Record<string, string | undefined>>,
  declared: Readonly<Record<string, string>>,
  tag: string,
): Record<string, string> {
  const kept = Object.entries(own).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (inherited.includes(entry[0]) || entry[0].startsWith('LC_')),
  );
  const [name = '', value = ''] = tag.split('=');
  // No colours and no questions; the tag last, because it is what ends the command.
  return { ...Object.fromEntries(kept), TERM: 'dumb', ...declared, [name]: value };
}
