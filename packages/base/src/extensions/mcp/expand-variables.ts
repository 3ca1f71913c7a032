/** `${NAME}` and `${NAME:-otherwise}`, as in `.mcp.json`. A `$` before anything else is a plain `$`. */
const pattern = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

/** Inserts the values; names that are not set go to `missing`. An empty value counts as not set. */
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
