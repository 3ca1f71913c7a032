import { closestName } from '@goondan/runtime/internal';
import { GoondanError } from '@goondan/types';

/** Creates the error for an unknown agent, with a list of the known agents. */
export function unknownAgent(wanted: string, names: readonly string[]): GoondanError {
  const meant = closestName(wanted, names);
  return new GoondanError('E_AGENT_UNKNOWN', `There is no agent "${wanted}". Agents: ${names.join(', ')}.`, {
    ...(meant === undefined ? {} : { suggestion: `Did you mean \`${meant}\`?` }),
  });
}
