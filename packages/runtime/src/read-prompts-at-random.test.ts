/** Tests the prompts of recorded turns against servers that speak the wire formats of the four providers. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { samples } from '../../../test/samples.ts';
import { providerCases } from './agent/model/providers/wire/provider-cases.ts';
import { readPrompts } from './read-prompts.ts';
import { openStoreReader } from './store/files/open-store-reader.ts';
import { recordPrompts } from './testing/record-prompts.ts';
import { durableStore } from './workspace/journal/durable-store.ts';
import type { Journal } from './workspace/journal/journal.ts';

const TURNS = 5;
const SEEDS = 10;

let stateRoot: string;
let journal: Journal;
const place = () => ({ stateRoot, workspaceId: 'w' });

beforeAll(async () => {
  stateRoot = mkdtempSync(join(tmpdir(), 'prompts-'));
  journal = await durableStore(place());
});
afterAll(async () => {
  await journal.close();
  rmSync(stateRoot, { recursive: true });
});

describe.each(providerCases)('%s', (_name, provider) => {
  test('V-01 the prompt equals the body that the server got, whatever the layers changed', async () => {
    const seeds = Array.from({ length: samples(SEEDS, 10) }, (_, seed) => seed);
    console.log(`seeds ${seeds.join(', ')}, ${TURNS} turns each`);
    for (const seed of seeds) {
      const sent = await recordPrompts(
        provider,
        seed,
        { store: journal, traceSink: { open: (instance) => journal.openTraces(instance) } },
        TURNS,
      );
      const reader = openStoreReader(place());
      for (const { turnId, bodies } of sent) {
        const { calls } = await readPrompts(reader, { id: turnId });
        const shown = calls.map(({ isExact, body, problems }) => ({
          seed,
          isExact,
          body: JSON.stringify(body),
          problems,
        }));
        expect(shown).toEqual(
          bodies.map((body) => ({ seed, isExact: true, body: JSON.stringify(body), problems: [] })),
        );
      }
      await reader.close();
    }
  });
});
