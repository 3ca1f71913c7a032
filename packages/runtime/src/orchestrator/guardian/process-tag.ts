/**
 * The tag that identifies the processes of a run: a variable in their environment. Every program passes the variable on
 * to its children, even if they join another group or session or get another parent.
 *
 * A guardian runs beside every orchestrator and loads these files, so they import almost nothing.
 */

/** `NAME=value`, as in an environment. */
export type ProcessTag = `${string}=${string}`;

/** Set in every process of one run of an orchestrator. */
export const RUN_VARIABLE = 'GOONDAN_RUN';
/** Set in one child and all processes it starts. */
export const CHILD_VARIABLE = 'GOONDAN_CHILD';

export function newTag(variable: typeof RUN_VARIABLE | typeof CHILD_VARIABLE): ProcessTag {
  return `${variable}=${crypto.randomUUID()}`;
}

/**
 * Checks a tag, and throws unless it has our format. Processes with the tag are killed, so another program must not
 * have it by chance.
 */
export function checkTag(tag: string): ProcessTag {
  if (isTag(tag)) return tag;
  throw new TypeError(`"${tag}" is not a tag of a run, so nothing can be known by it.`);
}

const ourTag = /^GOONDAN_(?:RUN|CHILD)=[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

export function isTag(tag: string): tag is ProcessTag {
  return ourTag.test(tag);
}

/** Returns the tag as an entry of an environment. */
export function tagEntry(tag: ProcessTag): Record<string, string> {
  const at = tag.indexOf('=');
  return { [tag.slice(0, at)]: tag.slice(at + 1) };
}

/** Returns all tags of an environment, as /proc shows it. */
export function tagsOf(environment: Uint8Array): ProcessTag[] {
  const bytes = Buffer.from(environment.buffer, environment.byteOffset, environment.byteLength);
  if (!bytes.includes(PREFIX)) return [];
  return bytes.toString('latin1').split('\0').filter(isTag);
}

const PREFIX = 'GOONDAN_';

/** Returns true if an environment (as /proc shows it, with NUL after each entry) has exactly this entry. */
export function carriesTag(environment: Uint8Array, tag: ProcessTag): boolean {
  const bytes = Buffer.from(environment.buffer, environment.byteOffset, environment.byteLength);
  const wanted = Buffer.from(tag);
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    if ((at === 0 || bytes[at - 1] === 0) && (end === bytes.length || bytes[end] === 0)) return true;
  }
  return false;
}
