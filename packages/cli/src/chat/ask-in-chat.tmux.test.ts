// Tests the chat when it asks for approval of tool calls: `gdn run` in a real terminal (tmux).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { connectSwarm } from '@goondan/runtime';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { hasTmux, TmuxTerminal } from '../testing/tmux-terminal.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(180_000);

const script = `
- { when: '^put (?<what>.+)', call: { tool: shelf__put, args: { what: '{{what}}' } } }
- { afterTool: shelf__put, say: 'Put: {{result.put}}{{result.error.message}}' }`.trim();

const bundle = {
  'goondan.yaml': sampleBundle({
    script,
    agent: 'tools: [Tool/shelf]',
    swarm: "extensions: [{ ref: { kind: Extension, name: approval, package: '@goondan/base' } }]",
    more: 'kind: Tool\nmetadata: { name: shelf }\nspec: { entry: ./shelf.ts, exports: [{ name: put, description: Puts it. }] }',
  }),
  'shelf.ts': `export const handlers = { put: (ctx, { what }) => ({ put: what }) };\n`,
};

describe.skipIf(!hasTmux)('the chat, when a tool call needs approval', () => {
  let place: GdnPlace;
  let terminal: TmuxTerminal;
  beforeAll(async () => {
    place = new GdnPlace();
    await place.write('bundle', bundle);
    const env = { GOONDAN_STATE_ROOT: place.stateRoot, NO_COLOR: '1' };
    terminal = await TmuxTerminal.open({ cwd: place.folder, env, columns: 160 });
    await terminal.run('run', 'bundle', '--trust');
    await terminal.see('/help lists what you can type.\n>');
  });
  afterAll(async () => {
    try {
      await terminal.press('C-d');
      await terminal.see(/\$$/);
      expect(await terminal.exitCode()).toBe(0);
    } finally {
      await terminal.close();
      expect(await place.remove()).toEqual([]);
    }
  });

  /** Waits for the question about this call; questions about earlier calls may still be on the screen. */
  async function seeQuestion(what: string): Promise<void> {
    await terminal.see(new RegExp(`{"what":"${what}"}[^]*Let it run\\? \\[y/N, or a reason to deny it\\]`));
  }

  test('asks: y lets the call run, a reason goes to the agent, and an answer from elsewhere withdraws the question', async () => {
    await terminal.enter('put a book');
    await seeQuestion('a book');
    await terminal.enter('y');
    await terminal.see('Put: a book');

    await terminal.enter('put a lamp');
    await seeQuestion('a lamp');
    await terminal.enter('it is dark');
    await terminal.see('They say: it is dark');

    await terminal.enter('put a cat');
    await seeQuestion('a cat');
    const [workspaceId = ''] = readdirSync(join(place.stateRoot, 'workspaces'));
    const swarm = await connectSwarm({ stateRoot: place.stateRoot, workspaceId });
    const [{ id } = { id: '' }] = await swarm.questions();
    await swarm.answer({ id, by: 'ann', decision: 'approved' });
    await terminal.see(`${id} no longer needs an answer: approved by ann.`);
    await terminal.see('Put: a cat');
    await terminal.see(/\n>\s*$/);
  });

  test('Ctrl-C leaves the question open, and a second one cancels the turn', async () => {
    await terminal.enter('put a hat');
    await seeQuestion('a hat');
    await terminal.press('C-c');
    await terminal.see('stays unanswered.');
    await terminal.press('C-c');
    await terminal.see(/cancelled[^]*\n>\s*$/i);
  });

  test('a turn that waits when the chat ends continues in the next chat, which shows its answer', async () => {
    await terminal.enter('put a coat');
    await seeQuestion('a coat');
    await terminal.press('C-d');
    const left = await terminal.see(/The turn is not over: it continues when you run the swarm again\.\s+\$$/);
    expect(left).not.toContain('E_SWARM_STOPPED');
    await terminal.clear();
    await terminal.run('run', 'bundle', '--trust');
    await seeQuestion('a coat');
    await terminal.enter('y');
    await terminal.see(/> put a coat[^]*Put: a coat[^]*\n>\s*$/);
  });
});
