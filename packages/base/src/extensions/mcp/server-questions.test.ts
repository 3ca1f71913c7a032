import { describe, expect, test } from 'bun:test';
import { GoondanError, type JsonObject, type PersonReply, type PersonRequest } from '@goondan/types';
import type { ServerQuestion } from './server-question.ts';
import { answerQuestions, MOST_QUESTIONS } from './server-questions.ts';

const open = () => new AbortController().signal;

/** Answers the questions of one call. `reply` is the person. */
function call(reply: (request: PersonRequest) => PersonReply | Promise<PersonReply>) {
  const asked: PersonRequest[] = [];
  const notes: string[] = [];
  const ask = async (request: PersonRequest) => {
    asked.push(request);
    return reply(request);
  };
  const answer = answerQuestions('github', { ask }, (note) => void notes.push(note));
  return { asked, answer, notes };
}

const form = (properties: JsonObject, message = 'Which?'): ServerQuestion => ({
  mode: 'form',
  message,
  requestedSchema: { type: 'object', properties },
});
const page = (url: string): ServerQuestion => ({ mode: 'url', message: 'Sign in.', url });

describe('a question of a server', () => {
  test.each([
    [
      { outcome: 'answered', content: { branch: 'main' } },
      { action: 'accept', content: { branch: 'main' } },
    ],
    [{ outcome: 'answered' }, { action: 'accept' }],
    [{ outcome: 'declined' }, { action: 'decline' }],
    [
      { outcome: 'declined', note: 'no' },
      { action: 'decline', note: 'no' },
    ],
    [{ outcome: 'expired' }, { action: 'cancel' }],
  ] as const)('N-01 answers %j with %j', async (reply, expected) => {
    const { asked, answer, notes } = call(() => reply);
    expect(await answer(form({ branch: { type: 'string' } }), open())).toEqual(expected);
    expect(notes).toEqual('note' in reply ? [reply.note] : []);
    expect(asked).toMatchObject([{ reason: 'Which?', server: 'github' }]);
  });

  test('N-01 the forms of SEP-1330 reach the person: titled, untitled, old titles, one choice and several', async () => {
    const { asked, answer } = call(() => ({ outcome: 'answered', content: {} }));
    const titles = [
      { const: 'a', title: 'The first' },
      { const: 'b', title: 'The second' },
    ];
    const fields: JsonObject = {
      untitled: { type: 'string', enum: ['a', 'b'] },
      titled: { type: 'string', oneOf: titles, default: 'b' },
      several: { type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1, maxItems: 2 },
      severalTitled: { type: 'array', items: { anyOf: titles }, default: ['a'] },
      text: { type: 'string', minLength: 1, maxLength: 9, format: 'email', title: 'Mail', description: 'Yours.' },
      number: { type: 'integer', minimum: 1, maximum: 2, default: 1 },
      yes: { type: 'boolean', default: true },
    };
    const old = { type: 'string', enum: ['a', 'b'], enumNames: ['The first', 'The second'] };
    await answer(form({ ...fields, old }), open());
    const shown: unknown = asked[0]?.form?.properties;
    expect(shown).toEqual({ ...fields, old: { type: 'string', oneOf: titles } });
  });

  test('N-01 texts are cleaned and cut, and invisible names and values are refused', async () => {
    const { asked, answer } = call(() => ({ outcome: 'declined' }));
    const hidden = 'a\u200bb\u001b[2J';
    await answer(form({ name: { type: 'string', title: hidden, description: hidden, $comment: 'x' } }, hidden), open());
    await answer(form({ name: { type: 'string' } }, 'x'.repeat(2_000)), open());
    expect(asked[0]).toMatchObject({
      reason: 'ab[2J',
      form: { properties: { name: { type: 'string', title: 'ab[2J', description: 'ab[2J' } } },
    });
    expect(asked[1]?.reason).toHaveLength(1_000);
    await answer(form({ name: { type: 'string', oneOf: [{ const: 'a', title: hidden }] } }), open());
    expect(asked.pop()?.form).toMatchObject({ properties: { name: { oneOf: [{ const: 'a', title: 'ab[2J' }] } } });
    const fields: JsonObject[] = [
      { [hidden]: { type: 'string' } },
      { name: { type: 'string', enum: [hidden] } },
      { name: { type: 'string', oneOf: [{ const: hidden, title: 'fine' }] } },
      { name: { type: 'array', items: { type: 'string', enum: [hidden] } } },
      { name: { type: 'string', default: hidden } },
    ];
    for (const properties of fields) {
      expect(answer(form(properties), open())).rejects.toMatchObject({ kind: 'question' });
    }
    expect(asked).toHaveLength(2);
  });

  test('a host that looks like another one is shown in ASCII', async () => {
    const { asked, answer } = call(() => ({ outcome: 'answered' }));
    // The first letter is Cyrillic.
    expect(await answer(page('https://\u0430pple.com/x'), open())).toEqual({ action: 'accept' });
    expect(asked).toMatchObject([{ url: 'https://xn--pple-43d.com/x' }]);
  });

  test('a form that the runtime refuses is the fault of the server', async () => {
    const { answer } = call(() => {
      throw new GoondanError('E_APPROVAL_REQUEST', 'The form is too large.');
    });
    expect(answer(form({}), open())).rejects.toMatchObject({ kind: 'question', message: 'The form is too large.' });
  });

  test('the questions of a call are asked one after the other', async () => {
    const replies: PromiseWithResolvers<PersonReply>[] = [];
    const { asked, answer } = call(() => {
      const reply = Promise.withResolvers<PersonReply>();
      replies.push(reply);
      return reply.promise;
    });
    const answers = [answer(form({}, 'one'), open()), answer(form({}, 'two'), open())];
    await Bun.sleep(1);
    expect(asked.map(({ reason }) => reason)).toEqual(['one']);
    replies[0]?.resolve({ outcome: 'declined' });
    await answers[0];
    await Bun.sleep(1);
    expect(asked.map(({ reason }) => reason)).toEqual(['one', 'two']);
    replies[1]?.resolve({ outcome: 'expired' });
    expect(await Promise.all(answers)).toEqual([{ action: 'decline' }, { action: 'cancel' }]);
  });

  test(`a call asks at most ${MOST_QUESTIONS} questions`, async () => {
    const { asked, answer } = call(() => ({ outcome: 'declined' }));
    for (let count = 0; count < MOST_QUESTIONS; count += 1) await answer(form({}), open());
    expect(answer(form({}), open())).rejects.toMatchObject({ kind: 'question' });
    expect(asked).toHaveLength(MOST_QUESTIONS);
  });

  test('a withdrawn question is cancelled, and one that waits is not asked', async () => {
    const withdrawn = new AbortController();
    const { asked, answer } = call(({ signal }) => {
      const gone = Promise.withResolvers<never>();
      signal?.addEventListener('abort', () => gone.reject(new Error('gone')));
      return gone.promise;
    });
    const answers = [answer(form({}), withdrawn.signal), answer(form({}), withdrawn.signal)];
    await Bun.sleep(1);
    withdrawn.abort();
    expect(await Promise.all(answers)).toEqual([{ action: 'cancel' }, { action: 'cancel' }]);
    expect(asked).toHaveLength(1);
  });
});
