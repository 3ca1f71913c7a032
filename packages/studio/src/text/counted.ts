/** Formats a count, such as `1 tool` or `2 tools`. */
export function counted(count: number, what: string, several = `${what}s`): string {
  return `${count} ${count === 1 ? what : several}`;
}
