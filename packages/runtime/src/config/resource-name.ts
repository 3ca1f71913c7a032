/**
 * The form of resource names: letters, digits, `-` and `.`, starting with a letter, at most 63 characters, without `..`
 * and without a `.` at the end. A name becomes part of paths and of tool names, so no other characters are allowed.
 * `pathSegment` makes the part of a path.
 */
export const resourceNamePattern = /^(?!.*\.\.)(?!.*\.$)[A-Za-z][A-Za-z0-9.-]{0,62}$/;

/** Returns the name in lower case. Two resources of a kind must not have the same name in lower case. */
export function foldCase(name: string): string {
  return name.toLowerCase();
}
