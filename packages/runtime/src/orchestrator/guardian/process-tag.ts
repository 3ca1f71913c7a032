/**
 * How a run's processes are known: by an entry of their environment, which every program hands on to what it starts,
 * whatever else that does (its own group, its own session, another parent).
 *
 * The guardian runs this beside every orchestrator, so the files of this folder that it needs import next to nothing.
 */

/** `NAME=value`, as it stands in an environment. */
export type ProcessTag = `${string}=${string}`;

/** Carried by every process of one run of an orchestrator. */
export const RUN_VARIABLE = 'GOONDAN_RUN';
/** Carried by one child of it and whatever that starts. */
export const CHILD_VARIABLE = 'GOONDAN_CHILD';

export function newTag(variable: typeof RUN_VARIABLE | typeof CHILD_VARIABLE): ProcessTag {
  return `${variable}=${crypto.randomUUID()}`;
}

/** Throws unless it is one of ours: what is found by it is killed, so it must not be found by chance. */
export function checkTag(tag: string): ProcessTag {
  if (ourTag.test(tag)) return tag as ProcessTag;
  throw new TypeError(`"${tag}" is not a tag of a run, so nothing can be known by it.`);
}

const ourTag = /^GOONDAN_(?:RUN|CHILD)=[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The entry of an environment. */
export function entryOf(tag: ProcessTag): Record<string, string> {
  const at = tag.indexOf('=');
  return { [tag.slice(0, at)]: tag.slice(at + 1) };
}

/** Whether an environment (as /proc shows it, entries ended by NUL) has exactly this entry. */
export function carriesTag(environment: Uint8Array, tag: ProcessTag): boolean {
  const bytes = Buffer.from(environment.buffer, environment.byteOffset, environment.byteLength);
  const wanted = Buffer.from(tag);
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + 1)) {
    const end = at + wanted.length;
    if ((at === 0 || bytes[at - 1] === 0) && (end === bytes.length || bytes[end] === 0)) return true;
  }
  return false;
}
