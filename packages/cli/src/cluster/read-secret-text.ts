import { readFileSync, statSync } from 'node:fs';
import { GoondanError } from '@goondan/types';

/** The maximum length of an address or a token. */
const LONGEST = 4_096;

/**
 * Returns a text, or the contents of a file if the text is `@` and a path. `what` names the text in errors.
 *
 * **Errors** — `code` when the file cannot be read, when others may read it, or when the text is empty or too long.
 */
export function readSecretText(text: string, what: string, code: 'E_STORE_ADDRESS' | 'E_CLUSTER_TOKEN'): string {
  const isFile = text.startsWith('@');
  const found = (isFile ? readPrivateFile(text.slice(1), what, code) : text).trim();
  if (found === '') {
    throw new GoondanError(code, isFile ? `${what} is in "${text.slice(1)}", which is empty.` : `${what} is empty.`);
  }
  if (found.length > LONGEST) throw new GoondanError(code, `${what} is longer than ${LONGEST} characters.`);
  return found;
}

function readPrivateFile(path: string, what: string, code: 'E_STORE_ADDRESS' | 'E_CLUSTER_TOKEN'): string {
  try {
    const { mode, size } = statSync(path);
    if ((mode & 0o077) !== 0) {
      const message = `${what} is in "${path}", which other users of this machine may read or change.`;
      throw new GoondanError(code, message, { suggestion: `Type \`chmod 600 ${path}\`, then the command again.` });
    }
    if (size > LONGEST) throw new GoondanError(code, `${what} is in "${path}", which is too long for it.`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (GoondanError.is(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    const suggestion = `Correct the path after \`@\`, or write ${what.replace(/^The/, 'the')} into that file, with mode 600.`;
    const message = `${what} is in "${path}", which cannot be read: ${reason}`;
    throw new GoondanError(code, message, { suggestion, cause: error });
  }
}
