/** Environment variables: their values, and the names that a resource may declare for its process. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that decide how a process runs, or that identify it; a resource must not set them. */
const reserved = /^(?:GOONDAN_|BUN_|LD_|DYLD_|NODE_OPTIONS$|NODE_CHANNEL)/;

export const variableNamePattern = /^[A-Za-z_]\w*$/;

/** Returns the reason why a variable of this name cannot be declared, or `undefined` when it can be declared. */
export function findVariableProblem(name: string): string | undefined {
  if (!variableNamePattern.test(name)) return `"${name}" is not a name for an environment variable`;
  if (reserved.test(name)) return `the environment variable ${name} cannot be declared: it is reserved`;
  return undefined;
}
