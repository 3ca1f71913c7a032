import { describe, expect, test } from 'bun:test';
import { fakeQuestion } from '../testing/fake-control.ts';
import { findReplyProblem, type QuestionReply } from './check-reply.ts';

const { id, digest } = fakeQuestion;
const schema = {
  type: 'object',
  properties: { command: { type: 'string', minLength: 3, pattern: '(a+)+$' }, count: { type: 'integer', maximum: 9 } },
  required: ['command'],
  additionalProperties: false,
};
const call = { ...fakeQuestion, schema };
const form = {
  ...fakeQuestion,
  kind: 'form' as const,
  args: {},
  schema: {
    type: 'object',
    properties: {
      mail: { type: 'string', format: 'email' },
      size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }, { const: 'l' }] },
      extras: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, maxItems: 1 },
      count: { type: 'integer', minimum: 1 },
      yes: { type: 'boolean' },
      day: { type: 'string', format: 'date' },
      time: { type: 'string', format: 'date-time' },
      flag: { type: 'string', maxLength: 1 },
      // A name that every object inherits.
      constructor: { type: 'string' },
    },
    required: ['mail'],
  },
};

const yes = { id, decision: 'approved', by: 'ann' } as const;
const problem = (question: typeof fakeQuestion, more: Partial<QuestionReply>) => {
  const found = findReplyProblem({ question }, { ...yes, ...more });
  return found && `${found.code}: ${found.message}`;
};

describe('an answer to a question', () => {
  test('N-01 is refused with a code: unknown, forbidden, ended, another digest', () => {
    expect(findReplyProblem({}, yes)?.code).toBe('E_QUESTION_UNKNOWN');
    const ended = { how: 'answered', by: 'bob' } as const;
    // A channel that may not answer does not learn who has answered.
    expect(findReplyProblem({ question: call, ended, isForbidden: true }, yes)?.code).toBe('E_QUESTION_FORBIDDEN');
    expect(findReplyProblem({ question: call, ended }, yes)?.message).toBe(
      `The question "${id}" was answered by bob already.`,
    );
    expect(findReplyProblem({ question: call, ended: { ...ended, via: 'chat' } }, yes)?.message).toBe(
      `The question "${id}" was answered by bob via chat already.`,
    );
    expect(findReplyProblem({ ended: { how: 'expired' } }, yes)?.code).toBe('E_QUESTION_ENDED');
    expect(problem(call, { digest: 'other' })).toStartWith('E_QUESTION_CHANGED: ');
    expect(problem(call, { digest, note: 'ok', via: 'chat', always: 'arguments' })).toBeUndefined();
  });

  test('allows the host of the arguments that it approves', () => {
    const fetching = { ...fakeQuestion, args: { url: 'https://example.com/' } };
    expect(problem(fetching, { always: 'host' })).toBeUndefined();
    expect(problem(fetching, { always: 'host', args: { url: 'https://example.com@evil.com/' } })).toContain('one URL');
    expect(problem(fakeQuestion, { always: 'host', args: { url: 'https://other.com/' } })).toBeUndefined();
  });

  test.each<[Partial<QuestionReply>, string]>([
    [{ by: ' ' }, 'by is not a name'],
    [{ by: undefined as never }, 'by is not a name'],
    [{ by: 'x'.repeat(201) }, 'by has more than 200 characters'],
    [{ note: 'x'.repeat(16_001) }, 'note has more than 16000 characters'],
    [{ decision: 'maybe' as never }, 'decision is neither approved nor denied'],
    [{ args: { command: 'ls' }, decision: 'denied' }, 'only an approved tool call can have other arguments'],
    [{ always: 'tool', decision: 'denied' }, 'only an approved tool call can always be allowed'],
    [{ always: 'often' as never }, 'always is none of arguments, host, tool'],
    [{ always: 'host' }, 'the call cannot be allowed for its host: it has not exactly one URL'],
    [{ content: {} }, 'only an answered form has content'],
    [{ args: [] as never }, 'args is not an object'],
    [{ args: { command: 'x'.repeat(256_000) } }, 'args has 256014 bytes'],
    [{ args: {} }, "the value must have required property 'command'"],
    [{ args: { command: 'ls' } }, 'command must NOT have fewer than 3 characters'],
    [{ args: { command: '🫖🫖' } }, 'command must NOT have fewer than 3 characters'],
    [{ args: { command: 'list', count: 10 } }, 'count must be <= 9'],
    [{ args: { command: 'list', other: 1 } }, 'the value must NOT have additional properties ("other")'],
  ])('to a tool call is refused with the field that does not fit: %j', (more, words) => {
    expect(problem(call, more)).toStartWith(
      `E_QUESTION_REPLY: The answer to the question "${id}" does not fit: ${words}`,
    );
  });

  test('with edited arguments fits if a masked value is unchanged, and runs no pattern of the tool', () => {
    const masked = { ...call, args: { command: '**' } };
    expect(problem(masked, { args: { command: '**', count: 1 } })).toBeUndefined();
    expect(problem(masked, { args: { command: '*' } })).toContain('command must NOT have fewer');
    // An object has no value behind it: its fields have.
    const nested = { type: 'object', properties: { to: { type: 'object', required: ['name'] } } };
    const wrong = { ...call, schema: nested, args: { to: {} } };
    expect(problem(wrong, { args: { to: {}, more: 1 } })).toContain("to must have required property 'name'");
    // Names that fit a pattern may be allowed, so nothing is said about unknown ones.
    const open = { ...masked, schema: { ...schema, patternProperties: { '^x-': {} } } };
    expect(problem(open, { args: { command: '**', 'x-1': 1 } })).toBeUndefined();
    // This pattern would take longer than the universe.
    expect(problem(call, { args: { command: `${'a'.repeat(60)}!` } })).toBeUndefined();
  });

  test.each<[object, string | undefined]>([
    [{ mail: 'a@b.c', size: 'l', extras: ['b'], count: 2, yes: false }, undefined],
    [{ mail: 'a@b.c' }, undefined],
    [{}, 'mail is required'],
    [{ mail: 'nobody' }, 'mail must be an email address'],
    [{ mail: 'a@b.c', size: 'm' }, 'size must be one of "s", "l"'],
    [{ mail: 'a@b.c', extras: ['a', 'b'] }, 'extras must have 1 choices or less'],
    [{ mail: 'a@b.c', extras: ['c'] }, 'extras must be a list of "a", "b"'],
    [{ mail: 'a@b.c', extras: ['a', 'a'] }, 'extras must not have the same choice twice'],
    [{ mail: 'a@b.c', count: 1 }, undefined],
    [{ mail: 'a@b.c', count: 0 }, 'count must be 1 or more'],
    [{ mail: 'a@b.c', count: Infinity }, 'count must be a number'],
    [{ mail: 'a@b.c', flag: '👍' }, undefined],
    [{ mail: 'a@b.c', flag: 'ab' }, 'flag must have 1 characters or less'],
    [{ mail: 'a@b.c', count: 1.5 }, 'count must be a whole number'],
    [{ mail: 'a@b.c', yes: 'yes' }, 'yes must be true or false'],
    [{ mail: 'a@b.c', day: '2028-02-29', time: '2026-12-31T23:59:60+01:00' }, undefined],
    [{ mail: 'a@b.c', day: '2026-13-45' }, 'day must be a date such as 2026-01-31'],
    [{ mail: 'a@b.c', day: '2026-02-29' }, 'day must be a date such as 2026-01-31'],
    [{ mail: 'a@b.c', time: '2026-02-30T12:00:00Z' }, 'time must be a date and a time such as 2026-01-31T12:00:00Z'],
    [{ mail: 'a@b.c', time: '2026-01-31T24:00:00Z' }, 'time must be a date and a time such as 2026-01-31T12:00:00Z'],
    [{ mail: 'a@b.c', other: 1 }, 'other is not a field of the form'],
  ])('N-04 to a form is checked field by field: %j', (content, words) => {
    const found = problem(form, { content: content as never });
    if (words === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(`does not fit: ${words}`);
  });

  test('to a form needs its content, unless it is declined', () => {
    expect(problem(form, {})).toContain('content has the filled form, and is missing');
    const long = { mail: `${'x'.repeat(64_000)}@b.c` };
    expect(problem(form, { content: long })).toContain('content has more than 64000 bytes');
    expect(problem(form, { decision: 'denied' })).toBeUndefined();
    expect(problem(form, { decision: 'denied', content: {} })).toContain('only an answered form has content');
    expect(problem({ ...form, kind: 'page' }, {})).toBeUndefined();
    expect(problem({ ...form, kind: 'page' }, { always: 'tool' })).toContain('can always be allowed');
  });
});
