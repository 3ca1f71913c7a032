/** Which environment variables a resource may declare for its process. */

/** What decides how the process itself runs, and who it is, is not the resource's to say. */
const reserved = /^(?:GOONDAN_|BUN_|LD_|DYLD_|NODE_OPTIONS$|NODE_CHANNEL)/;

export const variableNamePattern = /^[A-Za-z_]\w*$/;

/** What is wrong with declaring a variable of this name; undefined when nothing is. */
export function findVariableProblem(name: string): string | undefined {
  if (!variableNamePattern.test(name)) return `"${name}" is not a name for an environment variable`;
  if (reserved.test(name)) return `the environment variable ${name} cannot be declared: it is reserved`;
  return undefined;
}
