import { GoondanError } from '@goondan/types';

/** Creates the error for a command that a person interrupted, or whose question was not answered with yes. */
export function interrupted(message: string): GoondanError {
  return new GoondanError('E_CANCELLED', message, { suggestion: 'Type the command again to retry.' });
}
