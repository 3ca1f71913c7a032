/** The maximum length of a value in an error message. */
const LONGEST_TEXT = 40;

export function showJson(value: unknown): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value);
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
