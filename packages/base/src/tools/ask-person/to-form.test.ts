import { describe, expect, test } from 'bun:test';
import { type Asked, toForm } from './to-form.ts';

const question = 'Which?';

describe('the form of ask-person', () => {
  test('asks for a text, one choice or several', () => {
    const of = (answer: object) => ({
      type: 'object',
      properties: { answer: { ...answer, title: 'Answer' } },
      required: ['answer'],
    });
    const choices = ['a', 'b'];
    expect(toForm({ question })).toEqual(of({ type: 'string' }));
    expect(toForm({ question, choices })).toEqual(of({ type: 'string', enum: choices }));
    const items = { type: 'string', enum: choices };
    expect(toForm({ question, choices, several: true })).toEqual(of({ type: 'array', items }));
  });

  test('has the fields that the model gave', () => {
    const form = toForm({
      question,
      fields: [
        { name: 'day', type: 'text', label: 'First day', description: 'A date.', default: 'today' },
        { name: 'people', type: 'integer', optional: true },
        { name: 'meal', type: 'choice', choices: ['soup', 'fish'] },
        { name: 'tags', type: 'choices', choices: ['x'], optional: true },
        { name: 'insured', type: 'boolean' },
      ],
    });
    expect(form).toEqual({
      type: 'object',
      properties: {
        day: { type: 'string', title: 'First day', description: 'A date.', default: 'today' },
        people: { type: 'integer' },
        meal: { type: 'string', enum: ['soup', 'fish'] },
        tags: { type: 'array', items: { type: 'string', enum: ['x'] } },
        insured: { type: 'boolean' },
      },
      required: ['day', 'meal', 'insured'],
    });
  });

  test.each<[Omit<Asked, 'question'>, string]>([
    [{ choices: ['a'], fields: [{ name: 'x', type: 'text' }] }, 'choices and fields'],
    [{ several: true }, 'no choices'],
    [{ choices: ['a', 'a'] }, 'the choice "a" twice'],
    [
      {
        fields: [
          { name: 'x', type: 'text' },
          { name: 'x', type: 'number' },
        ],
      },
      'called "x"',
    ],
    [{ fields: [{ name: 'x', type: 'choice' }] }, '"x" has no choices'],
    [{ fields: [{ name: 'x', type: 'number', choices: ['1'] }] }, 'its type is number'],
  ])('refuses %j', (asked, problem) => {
    expect(() => toForm({ question, ...asked })).toThrow(problem);
    expect(() => toForm({ question, ...asked })).toThrow(expect.objectContaining({ code: 'E_TOOL_ARGUMENTS' }));
  });
});
