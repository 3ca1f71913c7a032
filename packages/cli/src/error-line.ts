import { placeText, type TurnError } from '@goondan/types';

/**
 * Formats an error for people. The first line names the extension and the place: `E_EXT_MIDDLEWARE: Extension/rules: x
 * is not defined (extensions/rules.ts:14:7)`.
 */
export function errorLine({ code, message, extension, place }: TurnError): string {
  const isNamed = extension === undefined || namesExtension(message, extension);
  const [first = '', ...more] = message.split('\n');
  const parts = [code, isNamed ? undefined : `Extension/${extension}`, first].filter((part) => part !== undefined);
  return [`${parts.join(': ')}${place === undefined ? '' : ` (${placeText(place)})`}`, ...more].join('\n');
}

export function namesExtension(message: string, extension: string): boolean {
  return message.includes(`"${extension}"`) || message.includes(`/${extension}`);
}
