import { describe, expect, test } from 'bun:test';
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { type AskedRequest, ChangesetRequests, requestLimits } from './changeset-requests.ts';

const at: AgentAddress = { agentName: 'coder', instanceKey: 'one' };
const other: AgentAddress = { agentName: 'coder', instanceKey: 'two' };
const during = fakeEvent('go', { id: 'e1' });
const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** Opens a listener whose requests wait until the test ends them. */
function open() {
  const asked: (AskedRequest & { readonly end: PromiseWithResolvers<{ content: string | null }> })[] = [];
  const said: { readonly at: AgentAddress; readonly message: ToAgent }[] = [];
  const requests = new ChangesetRequests({
    answer: (request) => {
      const end = Promise.withResolvers<{ content: string | null }>();
      asked.push({ ...request, end });
      return end.promise;
    },
    say: (to, message) => void said.push({ at: to, message }),
  });
  const request = { kind: 'read', changesetId: 'c', path: 'a.md' } as const;
  const ask = (callId: string, from = at, event: typeof during | undefined = during) =>
    requests.heard(from, { type: 'changeset.ask', callId, request }, event);
  const endOf = (callId: string) =>
    said.flatMap(({ message }) =>
      message.type === 'changeset.ended' && message.callId === callId ? message.outcome : [],
    );
  return { requests, asked, said, ask, endOf };
}

describe('a request about a changeset', () => {
  test('has the identity of its channel and of its turn, and is answered once', async () => {
    const { asked, said, ask, endOf } = open();
    ask('r1');
    expect(asked).toMatchObject([{ at, during: { id: 'e1' }, request: { kind: 'read' } }]);
    asked[0]?.end.resolve({ content: 'text' });
    await settle();
    expect(said).toHaveLength(1);
    expect(said[0]?.at).toEqual(at);
    expect(endOf('r1')).toEqual([{ status: 'answered', value: { content: 'text' } }]);
  });

  test('that fails is answered with the error, without paths of the state root', async () => {
    const { asked, ask, endOf } = open();
    for (const callId of ['r1', 'r2', 'r3']) ask(callId);
    asked[0]?.end.reject(new GoondanError('E_CHANGESET_UNKNOWN', 'There is no changeset "c".'));
    asked[1]?.end.reject(new GoondanError('E_STORE_WRITE', '/home/me/.goondan/x cannot be written.'));
    asked[2]?.end.reject(new Error('odd'));
    await settle();
    expect(endOf('r1')).toMatchObject([{ status: 'failed', error: { code: 'E_CHANGESET_UNKNOWN' } }]);
    expect(JSON.stringify(endOf('r2'))).not.toContain('/home/me');
    expect(endOf('r3')).toMatchObject([{ error: { code: 'E_UNEXPECTED', message: 'odd' } }]);
  });

  test('outside of a turn, or with an id in use, is refused', () => {
    const { requests, asked, ask, endOf } = open();
    requests.heard(at, { type: 'changeset.ask', callId: 'r0', request: { kind: 'open' } }, undefined);
    expect(endOf('r0')).toMatchObject([{ status: 'failed', error: { code: 'E_CHANGESET_REQUEST' } }]);
    ask('r1');
    ask('r1');
    expect(endOf('r1')).toMatchObject([{ error: { code: 'E_CHANGESET_REQUEST' } }]);
    ask('r1', other);
    expect(asked).toHaveLength(2);
  });

  test.each([
    [
      'its process',
      (requests: ChangesetRequests) => requests.heard(at, { type: 'changeset.withdrawn', callId: 'r1' }, during),
    ],
    ['the end of its process', (requests: ChangesetRequests) => requests.processGone(at)],
    ['the end of its turn', (requests: ChangesetRequests) => requests.turnFinished(at, { event: during })],
  ])('is withdrawn by %s, and by nobody else', async (_, withdraw) => {
    const { requests, asked, said, ask } = open();
    ask('r1');
    requests.heard(other, { type: 'changeset.withdrawn', callId: 'r1' }, during);
    requests.heard(at, { type: 'changeset.withdrawn', callId: 'r2' }, during);
    requests.processGone(other);
    requests.turnFinished(at, { event: fakeEvent('', { id: 'e2' }) });
    expect(asked[0]?.signal.aborted).toBe(false);
    withdraw(requests);
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[0]?.end.resolve({ content: 'late' });
    await settle();
    expect(said).toEqual([]);
  });

  test('is bounded per conversation and in total, and a withdrawn one counts until its work is over', async () => {
    const { requests, asked, ask, endOf } = open();
    const { mostOfOne, mostOfAll } = requestLimits;
    for (let index = 0; index <= mostOfOne; index += 1) ask(`r${index}`);
    expect(asked).toHaveLength(mostOfOne);
    expect(endOf(`r${mostOfOne}`)).toMatchObject([{ error: { code: 'E_CHANGESET_LIMIT' } }]);
    requests.processGone(at);
    ask('again');
    expect(endOf('again')).toMatchObject([{ error: { code: 'E_CHANGESET_LIMIT' } }]);
    asked[0]?.end.resolve({ content: null });
    await settle();
    ask('later');
    expect(endOf('later')).toEqual([]);
    for (let index = 0; index < mostOfAll; index += 1) ask('x', { agentName: 'coder', instanceKey: String(index) });
    expect(asked).toHaveLength(mostOfAll + 1);
  });

  test('is aborted and answered when the requests are closed, and a later one is answered, too', async () => {
    const { requests, asked, ask, endOf } = open();
    ask('r1');
    let isClosed = false;
    const closed = requests.close().then(() => void (isClosed = true));
    expect(asked[0]?.signal.reason).toMatchObject({ code: 'E_SWARM_STOPPED' });
    await settle();
    expect(isClosed).toBe(false);
    asked[0]?.end.resolve({ content: null });
    await closed;
    expect(endOf('r1')).toEqual([{ status: 'answered', value: { content: null } }]);
    ask('r2');
    asked[1]?.end.resolve({ content: 'text' });
    await settle();
    expect(endOf('r2')).toEqual([{ status: 'answered', value: { content: 'text' } }]);
  });

  test('is not answered after its process withdrew it, even if the swarm was being stopped', async () => {
    const { requests, asked, said, ask } = open();
    ask('r1');
    const closed = requests.close();
    requests.heard(at, { type: 'changeset.withdrawn', callId: 'r1' }, during);
    asked[0]?.end.resolve({ content: null });
    await closed;
    expect(said).toEqual([]);
  });
});
