import type { AnswerBody } from '@goondan/cli/studio';

/** Reads the arguments that a person wrote. Throws an error with a message for the person. */
export function readArguments(text: string): NonNullable<AnswerBody['args']> {
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('The arguments must be a JSON object, such as {"city": "Lisbon"}.');
  // Safe: `JSON.parse` returns JSON.
  return value as NonNullable<AnswerBody['args']>;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
