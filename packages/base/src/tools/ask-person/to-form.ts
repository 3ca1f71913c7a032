/** Makes the form of a question from the arguments of a call, which are easier for a model than a JSON Schema. */
import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';

/** The arguments of a call. With neither `choices` nor `fields`, the answer is a text. */
export interface Asked {
  readonly question: string;
  /** The answers to choose from. */
  readonly choices?: readonly string[];
  /** True if the person may choose several of them. */
  readonly several?: boolean;
  readonly fields?: readonly Field[];
}

export interface Field {
  readonly name: string;
  readonly type: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  /** The text that the person sees instead of the name. */
  readonly label?: string;
  readonly description?: string;
  readonly choices?: readonly string[];
  readonly optional?: boolean;
  readonly default?: JsonValue;
}

/** Returns the form. **Errors** — `E_TOOL_ARGUMENTS`. */
export function toForm({ choices, several = false, fields }: Asked): JsonObject {
  if (fields !== undefined && choices !== undefined)
    throw wrong('the question has choices and fields', 'Give one of them: a field can have its own choices');
  if (several && choices === undefined) throw wrong('several is set, but there are no choices', 'Give choices');
  if (fields === undefined) return formOf([{ name: 'answer', label: 'Answer', ...answerOf(choices, several) }]);
  const twice = fields.find(({ name }, at) => fields.findIndex((each) => each.name === name) < at);
  if (twice !== undefined) throw wrong(`two fields are called "${twice.name}"`, 'Give each field a name of its own');
  return formOf(fields);
}

function answerOf(choices: readonly string[] | undefined, several: boolean): Pick<Field, 'type' | 'choices'> {
  if (choices === undefined) return { type: 'text' };
  return { type: several ? 'choices' : 'choice', choices };
}

function formOf(fields: readonly Field[]): JsonObject {
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, toSchema(field)])),
    required: fields.filter(({ optional = false }) => !optional).map(({ name }) => name),
  };
}

function toSchema(field: Field): JsonObject {
  const { label, description, default: given } = field;
  return {
    ...typeOf(field),
    ...(label === undefined ? {} : { title: label }),
    ...(description === undefined ? {} : { description }),
    ...(given === undefined ? {} : { default: given }),
  };
}

function typeOf({ name, type, choices }: Field): JsonObject {
  const isChoice = type === 'choice' || type === 'choices';
  if (isChoice && choices === undefined) throw wrong(`the field "${name}" has no choices`, 'Give it choices');
  if (!isChoice && choices !== undefined)
    throw wrong(`the field "${name}" has choices, and its type is ${type}`, 'Give it the type choice or choices');
  if (type === 'text') return { type: 'string' };
  if (!isChoice) return { type };
  const values = distinct(name, choices ?? []);
  return type === 'choice'
    ? { type: 'string', enum: values }
    : { type: 'array', items: { type: 'string', enum: values } };
}

function distinct(name: string, choices: readonly string[]): string[] {
  const twice = choices.find((choice, at) => choices.indexOf(choice) < at);
  if (twice !== undefined) throw wrong(`"${name}" has the choice "${twice}" twice`, 'Give each choice once');
  return [...choices];
}

function wrong(problem: string, suggestion: string): GoondanError {
  return new GoondanError('E_TOOL_ARGUMENTS', `The question was not asked: ${problem}.`, {
    suggestion: `${suggestion}, and call again.`,
  });
}
