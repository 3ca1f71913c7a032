import { expect, test } from 'bun:test';
import type { Acceptance, QuestionSummary, Swarm } from '@goondan/runtime';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { openTerminal } from '../terminal.ts';
import { withDesk } from './with-desk.ts';

const own = { agent: 'helper', instanceKey: 'default', traceId: 't1' };

function call(id: string, whose: Partial<QuestionSummary> = {}): QuestionSummary {
  return { ...fakeQuestion, id, ...own, ...whose };
}

/** Opens a swarm in which these questions wait, and a terminal that keeps what is printed. */
function openPlace(questions: readonly QuestionSummary[]) {
  let text = '';
  const terminal = openTerminal({
    stdout: { write: () => undefined },
    stderr: { write: (line) => void (text += line) },
    env: { NO_COLOR: '1' },
  });
  // The cast is safe: a desk uses only these members of the swarm.
  const swarm = {
    questions: async () => questions,
    answer: async () => undefined,
    watch: async () => ({ end: () => undefined, ended: Promise.resolve() }),
  } as unknown as Swarm;
  return { terminal, swarm, printed: () => text };
}

/** The calls that wait before the input is accepted. */
const pending = [
  call('elsewhere', { agent: 'other', traceId: 't2' }),
  call('caused', { agent: 'other' }),
  call('earlier', { traceId: 't0' }),
  call('otherKey', { instanceKey: 'k2', traceId: 't3' }),
];

/** Opens a desk where no person can be asked. Returns the ids of the calls about which it prints. */
async function askedAbout() {
  const { swarm, terminal, printed } = openPlace(pending);
  const ids = () => [...printed().matchAll(/gdn approve (\S+)/g)].map(([, id]) => id);
  return withDesk({ swarm, options: ['--bundle', '/b'] }, terminal, async (_desk, onAccepted) => {
    await settle();
    const before = ids();
    onAccepted(accepted);
    await settle();
    return { before, after: ids() };
  });
}

const accepted: Acceptance = { accepted: true, duplicate: false, eventId: 'e1', turnId: 'turn-e1', ...own };

const acceptAndSettle = async (_desk: unknown, onAccepted: (acceptance: Acceptance) => void) => {
  onAccepted(accepted);
  await settle();
};

const settle = () => new Promise<void>((resolve) => void setImmediate(resolve));

test('a desk asks about waiting calls of its own trace and of its own conversation, once the input is accepted', async () => {
  expect(await askedAbout()).toEqual({ before: [], after: ['caused', 'earlier'] });
});

test('a desk takes Ctrl-C only while a question is open', async () => {
  const taken: string[] = [];
  const { swarm, terminal } = openPlace([call('open')]);
  const takeInterrupt = (handler: () => void) => {
    taken.push('taken');
    // The person presses Ctrl-C at once.
    setImmediate(handler);
    return () => void taken.push('given back');
  };
  const place = { swarm, options: [], takeInterrupt };
  await withDesk(place, { ...terminal, canAsk: true }, async (_desk, onAccepted) => {
    onAccepted(accepted);
    while (!taken.includes('given back')) await settle();
  });
  expect(taken).toEqual(['taken', 'given back']);
});

test('a desk without a person says whether a tool call, a change or a form waits or is denied', async () => {
  const texts: string[] = [];
  const args = { changesetId: 'c1', digest: 'd', files: [{ path: 'a', change: 'added', diff: '@@ -0,0 +1 @@\n+x\n' }] };
  for (const place of [{}, { refusal: 'Nobody is here.' }]) {
    const asked = [call('call'), call('change', { kind: 'change', args }), call('form', { kind: 'form' })];
    const { swarm, terminal, printed } = openPlace(asked);
    await withDesk({ swarm, options: [], ...place }, terminal, acceptAndSettle);
    texts.push(printed());
  }
  expect(texts[0]).toContain('A tool call waits for you:\ncall  helper (default) wants to run bash__exec\n');
  expect(texts[0]).toContain(
    'A change of the bundle waits for you:\nchange  helper (default) wants to change its bundle\n',
  );
  expect(texts[0]).toContain('Answer from another terminal: `gdn answer form` or `gdn deny form`');
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
    const { swarm, terminal, printed } = openPlace([call('open')]);
    await withDesk({ swarm, options: [] }, { ...terminal, canAsk: true }, acceptAndSettle);
    expect(printed()).toContain('Answer from another terminal: `gdn approve open` or `gdn deny open`');
    expect(printed()).not.toContain('Let it run?');
  } finally {
    if (before === undefined) delete process.env['GOONDAN_RUN'];
    else process.env['GOONDAN_RUN'] = before;
  }
});
