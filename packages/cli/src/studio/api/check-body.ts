/** Checks the bodies of the contract: required fields exist, every field is a text, and there are no others. */
import { Refusal } from '@goondan/types/http';
import type { ApprovalBody, CancelBody, DeadLetterBody, InstanceAddress, SendBody } from '../contract.ts';

const LONGEST_NAME = 1024;

/** **Errors** — `E_STUDIO_REQUEST`, as in the other checks. */
export function checkSend(value: unknown): SendBody {
  const fields = fieldsOf(value, ['agent', 'instanceKey', 'input']);
  return { ...addressIn(fields), input: textIn(fields, 'input') };
}

export function checkCancel(value: unknown): CancelBody {
  const fields = fieldsOf(value, ['agent', 'instanceKey', 'turnId']);
  return { ...addressIn(fields), ...(fields.has('turnId') && { turnId: nameIn(fields, 'turnId') }) };
}

export function checkApproval(value: unknown): ApprovalBody {
  const fields = fieldsOf(value, ['id', 'decision', 'note']);
  const decision = oneIn(fields, 'decision', ['approve', 'deny']);
  return { id: nameIn(fields, 'id'), decision, ...(fields.has('note') && { note: textIn(fields, 'note') }) };
}

export function checkDeadLetter(value: unknown): DeadLetterBody {
  const fields = fieldsOf(value, ['agent', 'instanceKey', 'eventId', 'action']);
  const action = oneIn(fields, 'action', ['retry', 'drop']);
  return { ...addressIn(fields), eventId: nameIn(fields, 'eventId'), action };
}

type Fields = ReadonlyMap<string, unknown>;

function fieldsOf(value: unknown, names: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrong('it is not an object');
  const stray = Object.keys(value).find((key) => !names.includes(key));
  if (stray !== undefined) throw wrong(`there is no field ${JSON.stringify(stray.slice(0, 60))}`);
  return new Map(Object.entries(value));
}

function addressIn(fields: Fields): InstanceAddress {
  return { agent: nameIn(fields, 'agent'), instanceKey: nameIn(fields, 'instanceKey') };
}

function textIn(fields: Fields, field: string): string {
  const value = fields.get(field);
  if (typeof value !== 'string') throw wrong(`"${field}" is not a text`);
  return value;
}

function nameIn(fields: Fields, field: string): string {
  const value = textIn(fields, field);
  if (value === '' || value.length > LONGEST_NAME) throw wrong(`"${field}" has not 1 to ${LONGEST_NAME} characters`);
  return value;
}

function oneIn<const Choice extends string>(fields: Fields, field: string, choices: readonly Choice[]): Choice {
  const chosen = choices.find((choice) => choice === fields.get(field));
  if (chosen === undefined) throw wrong(`"${field}" is none of ${choices.join(', ')}`);
  return chosen;
}

function wrong(problem: string): Refusal {
  return new Refusal(400, 'E_STUDIO_REQUEST', `The body of the request: ${problem}.`);
}
