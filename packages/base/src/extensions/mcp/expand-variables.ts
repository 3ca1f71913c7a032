/** Expands `${NAME}` and `${NAME:-otherwise}`, as in `.mcp.json`. A `$` before anything else is a plain `$`. */
const pattern = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Inserts the values, and adds the names of unset variables to `missing`. An empty value counts as unset. */
export function expandVariables(
  text: string,
  lookUp: (name: string) => string | undefined,
  missing: Set<string>,
): string {
  return text.replaceAll(pattern, (_written, name: string, otherwise: string | undefined) => {
    const value = lookUp(name) || otherwise;
    if (value === undefined) missing.add(name);
    return value ?? '';
  });
}
