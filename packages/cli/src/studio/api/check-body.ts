/** The bodies of the contract, checked: what must be there is there, what is there is a text, and nothing else is. */
import type { ApprovalBody, CancelBody, DeadLetterBody, SendBody } from '../contract.ts';
import { StudioRefusal } from '../http/studio-refusal.ts';

const LONGEST_NAME = 1024;

/** **Errors** — `E_STUDIO_REQUEST`, as of the others. */
export function checkSend(value: unknown): SendBody {
  const { input, ...at } = fieldsOf(value, ['agent', 'key', 'input']);
  return { ...addressIn(at), input: textIn({ input }, 'input') };
}

export function checkCancel(value: unknown): CancelBody {
  const { eventId, ...at } = fieldsOf(value, ['agent', 'key', 'eventId']);
  return { ...addressIn(at), ...(eventId === undefined ? {} : { eventId: nameIn({ eventId }, 'eventId') }) };
}

export function checkApproval(value: unknown): ApprovalBody {
  const fields = fieldsOf(value, ['id', 'decision', 'note']);
  const decision = oneIn(fields, 'decision', ['approve', 'deny']);
  const note = fields.note === undefined ? {} : { note: textIn(fields, 'note') };
  return { id: nameIn(fields, 'id'), decision, ...note };
}

export function checkDeadLetter(value: unknown): DeadLetterBody {
  const fields = fieldsOf(value, ['agent', 'key', 'eventId', 'action']);
  const action = oneIn(fields, 'action', ['retry', 'drop']);
  return { ...addressIn(fields), eventId: nameIn(fields, 'eventId'), action };
}

type Fields<Name extends string> = { readonly [Each in Name]?: unknown };

function fieldsOf<const Name extends string>(value: unknown, names: readonly Name[]): Fields<Name> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('it is no object');
  const stray = Object.keys(value).find((key) => !names.some((name) => name === key));
  if (stray !== undefined) throw wrong(`there is no field ${JSON.stringify(stray.slice(0, 60))}`);
  // Only of the object itself: what every object has from elsewhere was not sent.
  const own = new Map<string, unknown>(Object.entries(value));
  const fields: { [Each in Name]?: unknown } = {};
  for (const name of names) fields[name] = own.get(name);
  return fields;
}

function addressIn(fields: Fields<'agent' | 'key'>): { readonly agent: string; readonly key: string } {
  return { agent: nameIn(fields, 'agent'), key: nameIn(fields, 'key') };
}

function textIn<const Name extends string>(fields: Fields<Name>, field: Name): string {
  const value = fields[field];
  if (typeof value !== 'string') throw wrong(`"${field}" is no text`);
  return value;
}

function nameIn<const Name extends string>(fields: Fields<Name>, field: Name): string {
  const value = textIn(fields, field);
  if (value === '' || value.length > LONGEST_NAME) throw wrong(`"${field}" has not 1 to ${LONGEST_NAME} characters`);
  return value;
}

function oneIn<const Name extends string, const Choice extends string>(
  fields: Fields<Name>,
  field: Name,
  choices: readonly Choice[],
): Choice {
  const chosen = choices.find((choice) => choice === fields[field]);
  if (chosen === undefined) throw wrong(`"${field}" is none of ${choices.join(', ')}`);
  return chosen;
}

function wrong(problem: string): StudioRefusal {
  return new StudioRefusal(400, 'E_STUDIO_REQUEST', `The body of the request: ${problem}.`);
}
