/** `${NAME}` and `${NAME:-otherwise}`, as `.mcp.json` has them. A `$` that is followed by anything else is a `$`. */
const pattern = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

export type LookUp = (name: string) => string | undefined;

/** Puts the values in; the names of those that are not set go to `missing`. An empty value is not set. */
export function expandVariables(text: string, lookUp: LookUp, missing: Set<string>): string {
  return text.replaceAll(pattern, (_written, name: string, otherwise: string | undefined) => {
    const value = lookUp(name) || otherwise;
    if (value === undefined) missing.add(name);
    return value ?? '';
  });
}
