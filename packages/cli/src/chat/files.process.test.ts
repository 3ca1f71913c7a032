// Tests `@file` of the chat with a real swarm.
import { expect } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectSwarm, startSwarm } from '@goondan/runtime';
import { systemClock } from '@goondan/runtime/internal';
import { testInProof } from '../../../../test/samples.ts';
import { Chat } from './chat.ts';
import type { ChatScreen, ScreenHooks } from './screen/chat-screen.ts';
import { until } from '../../../../test/until.ts';

/** A screen that keeps the lines, and says when a turn is over. */
function keepLines(hooks: ScreenHooks, printed: string[]): ChatScreen & { readonly hooks: ScreenHooks } {
  const nothing = () => undefined;
  return {
    hooks,
    print: (lines) => void printed.push(...lines.map((each) => each.map(({ text }) => text).join(''))),
    printSent: nothing,
    open: nothing,
    refresh: nothing,
    draft: '',
    setDraft: nothing,
    offer: nothing,
    clearDraft: nothing,
    setHistory: nothing,
    close: nothing,
  };
}

testInProof(
  'Y-02 the chat sends a file of 20 MiB, and shows the refusal of one byte more',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'goondan-chat-'));
    const options = { script: [{ say: 'I see {{files}}.' }] };
    const swarm = await startSwarm({
      name: 'studio',
      agents: [{ agentName: 'host', models: { 'Model/m': { provider: 'scripted', model: 'test', options } } }],
      workspace: 'studio',
      stateRoot: folder,
      policy: { spares: 0 },
    });
    try {
      const bytes = 20 * 1_024 * 1_024;
      for (const more of [0, 1]) writeFileSync(join(folder, `${more}.bin`), Buffer.alloc(bytes + more, 'the bytes '));
      const printed: string[] = [];
      let screen: ReturnType<typeof keepLines> | undefined;
      const chat = new Chat(
        { agent: 'host', instanceKey: 'default' },
        {
          swarm: await connectSwarm({ stateRoot: folder, workspaceId: 'studio' }),
          clock: systemClock,
          openScreen: (hooks) => (screen = keepLines(hooks, printed)),
          runCommand: async () => undefined,
        },
      );
      for (const more of [0, 1]) {
        screen?.hooks.sent(`look at @${folder}/${more}.bin`);
        await until(() => !chat.isTurnRunning);
      }
      expect(printed).toContain('I see [file 0.bin, 20 MB].');
      expect(printed).toContain('E_FILE_SIZE: The file "1.bin" has 20971521 bytes; at most 20971520 are allowed.');
    } finally {
      await swarm.stop({ graceMs: 0 });
      rmSync(folder, { recursive: true, force: true });
    }
  },
  60_000,
);
