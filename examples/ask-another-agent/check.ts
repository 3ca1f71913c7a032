import assert from 'node:assert/strict';
import { systemClock } from '@goondan/runtime/internal';
import { textOf } from '@goondan/types';
import { extensionFile, inProcessEngine, scriptedAgent } from '@goondan/runtime/testing';

const librarian = await scriptedAgent({
  agentName: 'librarian',
  script: [{ when: 'tea', say: 'Sencha is steamed, not roasted.' }, { fail: { message: 'the library is closed' } }],
});

// Both agents run in this process. In a swarm each agent has its own process, and the call looks the same.
const engine = inProcessEngine(systemClock);
engine.add('librarian', async (event, signal) => (await librarian.agent.handle(event, { signal })).result);

const host = await scriptedAgent({
  agentName: 'host',
  engine,
  extensions: [extensionFile('ask-librarian', import.meta.dirname, './ask-librarian.ts', { target: 'librarian' })],
});

await host.say('Tell me about tea.');

// The host's model saw the answer of the librarian …
const [request] = host.requests;
assert.deepEqual(
  request?.messages.map(({ role, content }) => [role, content]),
  [
    ['user', 'Tell me about tea.'],
    ['system', 'What librarian knows: Sencha is steamed, not roasted.'],
  ],
);
// … and the conversation did not keep this answer, because it was for this turn only.
assert.deepEqual((await host.messages()).map(textOf), ['Tell me about tea.', 'You said: Tell me about tea.']);

// The librarian answered in its own conversation, in a turn of the same trace.
assert.equal((await librarian.messages()).length, 2);
const [call] = engine.calls;
assert.deepEqual(call?.to, { agentName: 'librarian', instanceKey: 'default' });
assert.deepEqual(call.event.source, { kind: 'agent', name: 'host' });
assert.equal(call.event.traceId, 'trace-1');

// When the librarian fails, the turn fails with a code, because this layer has no fallback.
const { result } = await host.say('Tell me about coffee.');
assert.equal(result.error?.code, 'E_AGENT_FAILED');
assert.match(result.error.message, /the library is closed/);
assert.equal(result.error.extension, 'ask-librarian');
await Promise.all([host.close(), librarian.close()]);
