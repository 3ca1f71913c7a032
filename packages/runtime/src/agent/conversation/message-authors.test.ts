import { expect, test } from 'bun:test';
import { createUserMessage } from '@goondan/types';
import { MessageAuthors } from './message-authors.ts';

const by = (name: string) => ({ kind: 'extension', name }) as const;
const message = createUserMessage('Hi', {}, { id: 'note' });

test('Y-05 the end of a message is its newest one, because an id can be used again', () => {
  const authors = new MessageAuthors();
  authors.note({ type: 'append', message }, by('notes'));
  authors.note({ type: 'replace', targetId: 'note', message }, by('notes'));
  const { count } = authors;
  expect(authors.endOf('note', count)).toBeUndefined();
  authors.note({ type: 'truncate' }, by('clear'));
  expect(authors.endOf('note', count)).toMatchObject({ event: 'truncate', author: by('clear') });
  authors.note({ type: 'append', message }, by('notes'));
  authors.note({ type: 'remove', targetId: 'note' }, by('window'));
  expect(authors.endOf('note', count)).toMatchObject({ event: 'remove', author: by('window') });
});

test('forgets the oldest authors', () => {
  const authors = new MessageAuthors();
  for (let id = 0; id <= 1_000; id++) {
    authors.note({ type: 'append', message: { ...message, id: `${id}` } }, by('notes'));
    authors.note({ type: 'remove', targetId: `${id}` }, by('notes'));
  }
  expect([authors.of('0'), authors.endOf('0', 0)]).toEqual([undefined, undefined]);
  expect([authors.of('1'), authors.endOf('1', 0)?.event]).toEqual([by('notes'), 'remove']);
});
