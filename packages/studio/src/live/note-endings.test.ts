import type { InstanceView, StudioNotice, WorkspaceView } from '@goondan/cli/studio';
import { expect, test } from 'bun:test';
import { noteEndings, withFailures } from './note-endings.ts';

function ended(instanceKey: string, code?: string): StudioNotice {
  const error = code === undefined ? {} : { error: { code, message: 'no' } };
  const result = { turnId: 't', finishReason: code === undefined ? 'text_response' : 'error', ...error } as const;
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  return {
    type: 'turn.ended',
    end: { agent: 'a', instanceKey, eventId: 'e', traceId: 'x', stepCount: 1, usage, result },
  };
}

test('a conversation has failed if its last turn has, and a cancelled turn has not', () => {
  const conversation = { agent: 'a', status: 'idle', messages: 1, updatedAt: null, queued: 0, crashes: 0 } as const;
  const keys = ['new', 'mended', 'old', 'cancelled', 'failed', 'well'];
  const conversations = keys.map((instanceKey): InstanceView => ({
    ...conversation,
    instanceKey,
    ...(['mended', 'old'].includes(instanceKey) && { failed: true }),
  }));
  const notices = [ended('new', 'E_X'), ended('mended'), ended('cancelled', 'E_CANCELLED'), ended('failed', 'E_X')];
  const failures = noteEndings(noteEndings({}, [ended('failed')]), notices);
  // The cast is safe: only the conversations are read.
  const view = withFailures({ conversations } as unknown as WorkspaceView, failures);
  const failed = view.conversations.filter((each) => each.failed).map(({ instanceKey }) => instanceKey);
  expect(failed).toEqual(['new', 'old', 'failed']);
  expect(noteEndings(failures, [])).toBe(failures);
});
