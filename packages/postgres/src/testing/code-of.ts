import { GoondanError } from '@goondan/types';

/** Returns the code of the error with which the promise rejects; `undefined` if it resolves. */
export async function codeOf(action: Promise<unknown>): Promise<string | undefined> {
  try {
    await action;
    return undefined;
  } catch (error) {
    return GoondanError.is(error) ? error.code : String(error);
  }
}
