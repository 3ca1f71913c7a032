/** Reads and checks the query parameters of an address. Unknown parameters are errors. */
import type { AgentAddress } from '@goondan/types';
import { Refusal } from '@goondan/types/http';

export type Query<Name extends string> = { readonly [Each in Name]?: string };

const LONGEST = 1024;

/** A parameter without a value counts as absent. **Errors** — `E_STUDIO_REQUEST`. */
export function readQuery<const Name extends string>({ searchParams }: URL, names: readonly Name[]): Query<Name> {
  const query: { [Each in Name]?: string } = {};
  for (const [given, value] of searchParams) {
    const name = names.find((each) => each === given);
    if (name === undefined) throw wrong(`There is no parameter ${JSON.stringify(given.slice(0, 60))} here.`);
    if (query[name] !== undefined) throw wrong(`The parameter "${name}" is listed twice.`);
    if (value.length > LONGEST) throw wrong(`The parameter "${name}" is longer than ${LONGEST} characters.`);
    if (value !== '') query[name] = value;
  }
  return query;
}

/** **Errors** — `E_STUDIO_REQUEST`. */
export function addressOf({ agent, instanceKey }: Query<'agent' | 'instanceKey'>): AgentAddress {
  if (agent === undefined || instanceKey === undefined) {
    throw wrong('The request names no conversation. Add `agent` and `instanceKey`.');
  }
  return { agentName: agent, instanceKey };
}

/** Returns `otherwise` when the parameter is absent. **Errors** — `E_STUDIO_REQUEST`. */
export function numberOf<const Name extends string, Otherwise>(
  query: Query<Name>,
  name: Name,
  { least, most, otherwise }: { readonly least: number; readonly most: number; readonly otherwise: Otherwise },
): number | Otherwise {
  const text = query[name];
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (/^\d{1,16}$/.test(text) && number >= least && number <= most) return number;
  throw wrong(`The parameter "${name}" is not a number from ${least} to ${most}.`);
}

function wrong(message: string): Refusal {
  return new Refusal(400, 'E_STUDIO_REQUEST', message);
}
