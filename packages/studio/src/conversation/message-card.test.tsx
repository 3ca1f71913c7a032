import { expect, test } from 'bun:test';
import { renderToStaticMarkup } from 'react-dom/server';
import { MessageCard } from './message-card.tsx';

test.each([
  [{ 'goondan.truncated': true }, true],
  [{}, false],
])('Y-09 a message with the metadata %j says that it is truncated: %p', (metadata, isTold) => {
  const message = {
    id: 'm',
    data: { role: 'assistant', content: 'Once upon' },
    metadata,
    createdAt: '2026-01-02T03:04:05.000Z',
    source: { type: 'assistant', stepId: 's' },
  } as const;
  const shown = {
    message,
    author: { kind: 'model' },
    how: 'append',
    seq: 2,
    at: message.createdAt,
    turnId: 't',
  } as const;
  const markup = renderToStaticMarkup(
    <MessageCard agent="host" shown={shown} outcomes={new Map()} calls={new Set()} show={() => undefined} />,
  );
  expect(markup).toContain('Once upon');
  expect(markup.includes('Truncated')).toBe(isTold);
});
