import { expect, test } from 'bun:test';
import type { EventAuthor } from '@goondan/runtime/history';
import { describeAuthor } from './describe-author.ts';

test.each<[EventAuthor, string]>([
  [{ kind: 'input' }, 'input'],
  [{ kind: 'input', from: { kind: 'cli', name: 'control' } }, 'person via cli'],
  [{ kind: 'input', from: { kind: 'cli', name: 'gdn' } }, 'person via cli'],
  [{ kind: 'input', from: { kind: 'cli', name: 'studio' } }, 'person via studio'],
  [{ kind: 'input', from: { kind: 'connector', name: 'door' } }, 'connection door'],
  [{ kind: 'input', from: { kind: 'agent', name: 'front', instanceKey: 'blue' } }, 'agent front (blue)'],
  [{ kind: 'model', ref: 'Model/main' }, 'model Model/main'],
  [{ kind: 'model', ref: 'Model/main', answeredBy: 'cache' }, 'extension cache for Model/main'],
  [{ kind: 'model', answeredBy: 'cache' }, 'extension cache for model'],
  [{ kind: 'tool', name: 'dice__roll' }, 'tool dice__roll'],
  [{ kind: 'tool', name: 'dice__roll', answeredBy: 'approval' }, 'extension approval for dice__roll'],
  [{ kind: 'tool', name: 'dice__roll', changedBy: 'ann' }, 'tool dice__roll with arguments of ann'],
  [
    { kind: 'tool', name: 'dice__roll', changedBy: 'ann', changedVia: 'chat' },
    'tool dice__roll with arguments of ann via chat',
  ],
  [{ kind: 'extension', name: 'memory' }, 'extension memory'],
  [{ kind: 'runtime' }, 'runtime'],
])('%p is "%s"', (author, expected) => {
  expect(describeAuthor(author)).toBe(expected);
});
