import { expect, test } from 'bun:test';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { changeExtensions } from './change-extensions.ts';

test('an agent without extensions: the suggestion does not refer to a list', () => {
  // The cast is safe: only these fields are read.
  const agent = { agentName: 'host', extensions: [] } as unknown as DeclaredAgent;
  expect(() => changeExtensions(agent, { without: ['guard'] })).toThrow(
    expect.objectContaining({
      code: 'E_REPLAY_EXTENSION',
      message: 'The turn is one of agent "host", which has no Extension/guard. It has none.',
      suggestion: 'Replay the turn without this option.',
    }),
  );
});
