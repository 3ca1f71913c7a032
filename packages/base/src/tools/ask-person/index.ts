/**
 * The tool `ask-person`: an agent asks a person for a text, a choice or a filled form. The question is kept by the runtime,
 * so a call that runs again after a crash waits for the same question, or gets its answer.
 */
import type { PersonReply, ToolHandler } from '@goondan/types';
import { toForm, type Asked } from './to-form.ts';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;

const ask: ToolHandler = async ({ config, person }, input) => {
  // The casts are safe: arguments and config were checked against the schemas in tools.yaml.
  const asked = input as unknown as Asked;
  const { expiresInMinutes = DAY_MINUTES } = config as { expiresInMinutes?: number };
  const expiresInMs = expiresInMinutes * MINUTE_MS;
  const reply = await person.ask({ reason: asked.question, form: toForm(asked), expiresInMs });
  return toResult(reply, asked, expiresInMinutes);
};

function toResult({ outcome, content = {}, by, note }: PersonReply, asked: Asked, expiresInMinutes: number) {
  const about = { ...(by === undefined ? {} : { by }), ...(note === undefined ? {} : { note }) };
  if (outcome === 'expired')
    return { outcome, notice: `Nobody answered within ${expiresInMinutes} minutes.`, ...about };
  if (outcome === 'declined') return { outcome, notice: 'The person does not want to answer.', ...about };
  // The answer to one question is easier to read without the name of its only field.
  return asked.fields === undefined
    ? { outcome, answer: content.answer ?? null, ...about }
    : { outcome, answers: content, ...about };
}

export const handlers = { ask };
