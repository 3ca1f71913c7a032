/** Parts that the scripts of several shells share. */
import type { CompletedCommand, CompletedOption, Suggestion } from './describe-commands.ts';

/** Joins the words of a command, each after a space; the scripts build the same text from the typed words. */
export function keyOf(path: readonly string[]): string {
  return path.map((word) => ` ${word}`).join('');
}

/** Returns the names under which an option can be typed, the long one first. */
export function namesOf({ short, long }: CompletedOption): string[] {
  return short === undefined ? [long] : [long, short];
}

/** Groups the options that take a value by the values to suggest. An option is its command and its name: ` run --bundle`. */
export function groupValues(commands: readonly CompletedCommand[]) {
  const groups = new Map<string, { readonly value: Suggestion; readonly options: string[] }>();
  for (const { path, options } of commands) {
    for (const option of options) {
      if (option.value === undefined) continue;
      const group = groups.get(String(option.value)) ?? { value: option.value, options: [] };
      group.options.push(...namesOf(option).map((name) => `${keyOf(path)} ${name}`));
      groups.set(String(option.value), group);
    }
  }
  return [...groups.values()];
}
