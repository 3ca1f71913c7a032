import type { LogLine } from '@goondan/runtime';
import { placeText } from '@goondan/types';

/**
 * Formats the text of a log line, with the error code, and the place in the bundle's code where the error was thrown.
 */
export function logText({ message, place, data }: LogLine): string {
  if (place === undefined) return message;
  const code = fieldIn(data, 'code');
  const about = [...(code === '' || message.includes(code) ? [] : [code]), placeText(place)];
  const [first = '', ...more] = message.split('\n');
  return [`${first} (${about.join(', ')})`, ...more].join('\n');
}

/** Returns the stack of an error that the bundle's code threw; empty when there is none. */
export function stackIn({ place, data }: LogLine): readonly string[] {
  const stack = place === undefined ? '' : fieldIn(data, 'stack');
  return stack === '' ? [] : stack.split('\n');
}

function fieldIn(data: LogLine['data'], name: string): string {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return '';
  const value = data[name];
  return typeof value === 'string' ? value : '';
}
