/**
 * Measures Studio's most frequent requests for conversations of several lengths. The page must stay fast at 10 000
 * events.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { durableStore } from '@goondan/runtime/history';
import { readConversation } from '../packages/cli/src/studio/api/read-conversation.ts';
import { readTimeline } from '../packages/cli/src/studio/api/read-timeline.ts';
import { writeLongLife } from '../packages/studio/src/testing/write-long-life.ts';
import type { Figures } from './figures.ts';
import { printTimings, summarise, type Timing } from './measure.ts';

const TIMES = 15;
const talker = { agentName: 'talker', instanceKey: 'default' };

export async function benchStudio(): Promise<Figures> {
  const [timelines, conversations]: [Timing[], Timing[]] = [[], []];
  for (const turns of [1, 10, 100]) {
    const stateRoot = await mkdtemp(join(tmpdir(), 'goondan-bench-'));
    try {
      await writeLongLife({ stateRoot, turns, perTurn: 100 });
      const journal = await durableStore({ stateRoot, workspaceId: 'long' });
      const name = `${turns * 100} events`;
      timelines.push(await timed(name, () => readTimeline(journal, talker)));
      conversations.push(await timed(name, () => readConversation(journal, talker, { at: turns * 50, last: 200 })));
      await journal.close();
    } finally {
      await rm(stateRoot, { recursive: true, force: true });
    }
  }
  printTimings('Studio, the timeline of a conversation', timelines, 'ratio to 100 events');
  printTimings('Studio, the slider in the middle of a life', conversations, 'ratio to 100 events');
  return {};
}

async function timed(name: string, read: () => Promise<unknown>): Promise<Timing> {
  const times: number[] = [];
  for (let time = 0; time < TIMES + 2; time += 1) {
    const startedAt = performance.now();
    await read();
    times.push((performance.now() - startedAt) * 1_000);
  }
  // Drops the first two samples, which are a warm-up.
  return summarise(name, times.slice(2));
}
