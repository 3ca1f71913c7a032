import { expect, test } from 'bun:test';
import type { QuestionSummary, Swarm } from '@goondan/runtime';
import { openTerminal } from '../terminal.ts';
import { withDesk } from './with-desk.ts';

const own = { agent: 'helper', instanceKey: 'default', traceId: 't1' };

function call(id: string, whose: Partial<typeof own>): QuestionSummary {
  return {
    id,
    ...own,
    ...whose,
    eventId: 'e1',
    toolCallId: 'call_1',
    toolName: 'bash__exec',
    kind: 'call',
    args: {},
    digest: 'd',
    reason: 'Why not?',
    askedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: '2026-01-02T00:00:00.000Z',
  };
}

/** The calls that wait before the input is accepted. */
const pending = [
  call('elsewhere', { agent: 'other', traceId: 't2' }),
  call('caused', { agent: 'other' }),
  call('earlier', { traceId: 't0' }),
  call('otherKey', { instanceKey: 'k2', traceId: 't3' }),
];

/** Opens a desk where no person can be asked. Returns the ids of the calls about which it prints. */
async function printed(isAlone: boolean) {
  let text = '';
  const ids = () => [...text.matchAll(/gdn approve (\S+)/g)].map(([, id]) => id);
  const terminal = openTerminal({
    stdout: { write: () => undefined },
    stderr: { write: (line) => void (text += line) },
    env: { NO_COLOR: '1' },
  });
  // The cast is safe: a desk that gets no answer uses only these members of the swarm.
  const swarm = {
    questions: async () => pending,
    watch: async () => ({ end: () => undefined, ended: Promise.resolve() }),
  } as unknown as Swarm;
  return withDesk({ swarm, options: ['--bundle', '/b'], isAlone }, terminal, async (_desk, onAccepted) => {
    await settle();
    const before = ids();
    onAccepted({ accepted: true, duplicate: false, eventId: 'e1', turnId: 'turn-e1', ...own });
    await settle();
    return { before, after: ids() };
  });
}

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('a desk asks about waiting calls of its own trace and of its own conversation, once the input is accepted', async () => {
  expect(await printed(false)).toEqual({ before: [], after: ['caused', 'earlier'] });
});

test('a desk that is alone with the swarm asks about every call at once', async () => {
  const all = pending.map(({ id }) => id);
  expect(await printed(true)).toEqual({ before: all, after: all });
});

test('a desk takes Ctrl-C only while a question is open', async () => {
  const taken: string[] = [];
  const terminal = openTerminal({
    stdout: { write: () => undefined },
    stderr: { write: () => undefined },
    env: { NO_COLOR: '1' },
  });
  // The cast is safe: a desk whose question is left uses only these members of the swarm.
  const swarm = {
    questions: async () => [call('open', {})],
    watch: async () => ({ end: () => undefined, ended: Promise.resolve() }),
  } as unknown as Swarm;
  const takeInterrupt = (handler: () => void) => {
    taken.push('taken');
    // The person presses Ctrl-C at once.
    setImmediate(handler);
    return () => void taken.push('given back');
  };
  const place = { swarm, options: [], isAlone: true, takeInterrupt };
  await withDesk(place, { ...terminal, canAsk: true }, async () => {
    while (!taken.includes('given back')) await settle();
  });
  expect(taken).toEqual(['taken', 'given back']);
});

test('a desk without a person says whether a tool call or a change waits or is denied', async () => {
  const texts: string[] = [];
  const args = { changesetId: 'c1', digest: 'd', files: [{ path: 'a', change: 'added', diff: '@@ -0,0 +1 @@\n+x\n' }] };
  for (const place of [{}, { refusal: 'Nobody is here.' }]) {
    let text = '';
    const terminal = openTerminal({
      stdout: { write: () => undefined },
      stderr: { write: (line) => void (text += line) },
      env: { NO_COLOR: '1' },
    });
    // The cast is safe: a desk without a person uses only these members of the swarm.
    const swarm = {
      questions: async () => [call('call', {}), { ...call('change', {}), kind: 'change', args }],
      answer: async () => undefined,
      watch: async () => ({ end: () => undefined, ended: Promise.resolve() }),
    } as unknown as Swarm;
    await withDesk({ swarm, options: [], isAlone: true, ...place }, terminal, settle);
    texts.push(text);
  }
  expect(texts[0]).toContain('A tool call waits for you:\ncall  helper (default) wants to run bash__exec\n');
  expect(texts[0]).toContain(
    'A change of the bundle waits for you:\nchange  helper (default) wants to change its bundle\n',
  );
  expect(texts[0]).toContain('    added  a  (+1)\n    @@ -0,0 +1 @@\n    +x\n');
  expect(texts[1]).toContain('A tool call needs an answer, but no person can be asked, so it is denied:\ncall ');
  expect(texts[1]).toContain(
    'A change of the bundle needs an answer, but no person can be asked, so it is denied:\nchange ',
  );
});

test('N-04 a desk that an agent started asks nobody, even at a terminal', async () => {
  const before = process.env['GOONDAN_RUN'];
  process.env['GOONDAN_RUN'] = 'run-1';
  try {
    let text = '';
    const terminal = openTerminal({
      stdout: { write: () => undefined },
      stderr: { write: (line) => void (text += line) },
      env: { NO_COLOR: '1' },
    });
    // The cast is safe: a desk without a person uses only these members of the swarm.
    const swarm = {
      questions: async () => [call('open', {})],
      watch: async () => ({ end: () => undefined, ended: Promise.resolve() }),
    } as unknown as Swarm;
    await withDesk({ swarm, options: [], isAlone: true }, { ...terminal, canAsk: true }, settle);
    expect(text).toContain('Answer from another terminal: `gdn approve open` or `gdn deny open`');
    expect(text).not.toContain('Let it run?');
  } finally {
    if (before === undefined) delete process.env['GOONDAN_RUN'];
    else process.env['GOONDAN_RUN'] = before;
  }
});
