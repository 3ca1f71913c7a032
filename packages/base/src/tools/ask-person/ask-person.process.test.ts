import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { Swarm } from '@goondan/runtime';
import { type RunningExample, startExample } from '../../testing/start-example.ts';
import { until } from '../../../../../test/until.ts';

setDefaultTimeout(60_000);

let example: RunningExample | undefined;
afterEach(() => example?.stop());

/** Waits until as many questions are open, and returns them in the order of their conversations. */
function openQuestions(swarm: Swarm, count: number) {
  return until(async () => {
    const open = await swarm.questions();
    const sorted = open.toSorted((one, other) => (one.instanceKey < other.instanceKey ? -1 : 1));
    return sorted.length === count ? sorted : undefined;
  });
}

async function killAll(swarm: Swarm): Promise<number[]> {
  const pids = (await swarm.status()).instances.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  for (const pid of new Set(pids)) process.kill(pid, 'SIGKILL');
  return pids;
}

const textOf = async (turn: ReturnType<Swarm['ask']>) => JSON.stringify((await turn).result.responseMessage);

// In processes of their own, with a place for one process only: a turn that waits for a person leaves its process.
test.each(['', '  isolation: agent\n'])(
  'N-04 a question survives kill -9, and its answer reaches the call that asked (%j)',
  async (isolation) => {
    example = await startExample('ask-person', {
      change: (yaml) =>
        yaml
          .replace('  tools: [Tool/ask-person]\n', `  tools: [Tool/ask-person]\n${isolation}`)
          .replace(
            '  agents: [Agent/planner]\n',
            '  agents: [Agent/planner]\n  policy: { maxProcesses: 1, spares: 0 }\n',
          ),
    });
    const { swarm } = example;
    const turns = ['a', 'b'].map((instanceKey) => swarm.ask({ input: 'And where?', instanceKey }));
    const before = await openQuestions(swarm, 2);
    expect(before).toMatchObject(
      ['a', 'b'].map((instanceKey) => ({ kind: 'form', instanceKey, reason: 'Where do you want to go?' })),
    );
    await killAll(swarm);
    const after = await openQuestions(swarm, 2);
    expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const wrong = swarm.answer({
      id: after[0]?.id ?? '',
      decision: 'approved',
      by: 'ana',
      content: { answer: 'Paris' },
    });
    expect(wrong).rejects.toMatchObject({ code: 'E_QUESTION_REPLY' });
    await wrong.catch(() => undefined);
    for (const [at, answer] of ['Rome', 'Oslo'].entries()) {
      const { id = '', digest = '' } = after[at] ?? {};
      await swarm.answer({ id, digest, decision: 'approved', by: 'ana', via: 'test', content: { answer } });
    }
    const said = await Promise.all(turns.map(textOf));
    expect(said[0]).toContain('answered by ana: Rome');
    expect(said[1]).toContain('answered by ana: Oslo');
    expect(await swarm.questions()).toEqual([]);
    const { traces } = example;
    const given = await until(async () => {
      const calls = (await traces('a')).flatMap(({ chain }) => chain.inside.flatMap(({ inside }) => inside));
      return calls.flatMap(({ answers = [] }) => answers)[0];
    });
    expect(given).toMatchObject({ kind: 'form', decision: 'approved', by: 'ana', via: 'test' });
  },
);
