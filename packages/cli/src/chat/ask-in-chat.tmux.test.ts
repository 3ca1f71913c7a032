// Tests the chat when it asks a person: `gdn run` in a real terminal (tmux).
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectSwarm } from '@goondan/runtime';
import { promptOf } from '../question/wording.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { escapePattern } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { hasTmux, TmuxTerminal } from '../testing/tmux-terminal.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(180_000);

const script = `
- { when: '^put (?<what>.+)', call: { tool: shelf__put, args: { what: '{{what}}' } } }
- { when: '^sign in', call: { tool: desk__sign_in } }
- { afterTool: shelf__put, say: 'Put: {{result.put}}{{result.error.message}}' }
- { afterTool: desk__sign_in, say: 'Page: {{result.said}}' }`.trim();

const tools = `kind: Tool
metadata: { name: shelf }
spec:
  entry: ./shelf.ts
  exports:
    - name: put
      description: Puts it.
      parameters: { type: object, properties: { what: { type: string } }, required: [what], additionalProperties: false }
---
apiVersion: goondan.ai/v1
kind: Tool
metadata: { name: desk }
spec:
  entry: ./desk.ts
  exports:
    - { name: sign_in, description: Asks to sign in., effects: none }`;

const bundle = {
  'goondan.yaml': sampleBundle({
    script,
    agent: 'tools: [Tool/shelf, Tool/desk]',
    swarm: "extensions: [{ ref: { kind: Extension, name: approval, package: '@goondan/base' } }]",
    more: tools,
  }),
  'shelf.ts': `import { appendFileSync } from 'node:fs';
export const handlers = {
  put: (ctx, { what }) => {
    appendFileSync(ctx.workdir + '/shelf', what + '\\n');
    return { put: what };
  },
};
`,
  'desk.ts': `export const handlers = {
  async sign_in(ctx) {
    const page = { reason: 'Sign in to the shop.', url: 'https://shop.example/login?id=1', server: 'shop' };
    const { outcome, note } = await ctx.person.ask(page);
    return { said: outcome + ': ' + note };
  },
};
`,
};

describe.skipIf(!hasTmux)('the chat, when a person is asked', () => {
  let place: GdnPlace;
  let terminal: TmuxTerminal;
  beforeAll(async () => {
    place = new GdnPlace();
    await place.write('bundle', bundle);
    // A desktop whose browser leaves a file.
    await place.write('bin', { 'xdg-open': '#!/bin/sh\necho "$1" >> "$(dirname "$0")/opened"\n' });
    chmodSync(join(place.folder, 'bin/xdg-open'), 0o755);
    const desktop = { DISPLAY: ':0', PATH: `${join(place.folder, 'bin')}:${process.env['PATH']}` };
    const env = { GOONDAN_STATE_ROOT: place.stateRoot, NO_COLOR: '1', ...desktop };
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
    await terminal.see(new RegExp(`{"what":"${what}"}[^]*\\n${escapePattern(promptOf({ kind: 'call' }).trimEnd())}$`));
  }

  /** Sends a message when the chat is at rest, and waits for the question. */
  async function ask(what: string): Promise<void> {
    await terminal.see(/\n>$/);
    await terminal.enter(`put ${what}`);
    await seeQuestion(what);
  }

  test('y lets the call run, n with words goes to the agent, and an answer from elsewhere withdraws the question', async () => {
    await ask('a book');
    await terminal.enter('');
    await terminal.see(/n {2}no; the words after it are the reason[^]*\nLet it run\? \[y\/n\/e\/a\]$/);
    await terminal.enter('y');
    await terminal.see('Put: a book');

    await ask('a lamp');
    await terminal.enter('n it is dark');
    await terminal.see('They say: it is dark');

    await ask('a cat');
    const [workspaceId = ''] = readdirSync(join(place.stateRoot, 'workspaces'));
    const swarm = await connectSwarm({ stateRoot: place.stateRoot, workspaceId });
    const [{ id } = { id: '' }] = await swarm.questions();
    await swarm.answer({ id, by: 'ann', decision: 'approved' });
    await terminal.see(`${id} no longer needs an answer: approved by ann.`);
    await terminal.see('Put: a cat');
  });

  test('e edits the arguments: mistakes are told and stay in the line, and only the edited arguments run', async () => {
    await ask('a pen');
    await terminal.enter('e');
    await terminal.see(/Arguments: \{\s+"what": "a pen"\s+\}$/);
    await terminal.enter(',');
    await terminal.see(
      /This is not JSON: unexpected ",", at line 3, column 2\.[^]*Arguments: \{\s+"what": "a pen"\s+\},$/,
    );
    await terminal.press('BSpace', 'Up', 'End');
    await terminal.enter(', "size": 3');
    await terminal.see(/does not fit: [^]*size[^]*Arguments: \{\s+"what": "a pen", "size": 3\s+\}$/);
    await terminal.press('Up', 'End', ...Array.from({ length: ', "size": 3'.length + 1 }, () => 'BSpace'));
    await terminal.enter('cil"');
    await terminal.see(
      /- {2}"what": "a pen"\s+\+ {2}"what": "a pencil"[^]*\nLet it run with these arguments\? \[y\/n\/e\/a\]$/,
    );
    await terminal.enter('y');
    await terminal.see(/it runs with your arguments\.[^]*\nPut:[^]*\n>$/);
    expect(readFileSync(join(place.folder, 'shelf'), 'utf8').split('\n')).toEqual(['a book', 'a cat', 'a pencil', '']);
  });

  test('N-04 a page is shown with its server, its host and its whole address, and is only opened by the person', async () => {
    await terminal.see(/\n>$/);
    await terminal.enter('sign in');
    await terminal.see(
      /asks you to open a page[^]*A page of shop\.example, [^]*https:\/\/shop\.example\/login\?id=1\s+server shop, [^]*\nDid you open the page\? \[y\/n\]$/,
    );
    await terminal.enter('n not my shop');
    await terminal.see('Page: declined: not my shop');
    expect(readdirSync(join(place.folder, 'bin'))).toEqual(['xdg-open']);
  });

  test('N-04 Ctrl-C leaves the question open, /questions asks again, and a second Ctrl-C cancels the turn', async () => {
    await terminal.see(/\n>$/);
    await terminal.enter('/questions');
    await terminal.see(/Nothing is waiting for an answer\.\n[^]*>$/);
    await ask('a hat');
    await terminal.press('C-c');
    await terminal.see(/stays unanswered\.[^]*`gdn approve \w+ --bundle bundle`[^]*Ctrl-C cancels the turn\.[^]*\n>$/);
    await terminal.enter('/questions');
    await terminal.see(/Ctrl-C cancels the turn\.[^]*{"what":"a hat"}[^]*\nLet it run\? \[y\/n\/e\/a\]$/);
    await terminal.press('C-c');
    await terminal.see(/stays unanswered\.[^]*stays unanswered\.[^]*\n>$/);
    await terminal.press('C-c');
    await terminal.see(/cancelled[^]*\n>\s*$/i);
  });

  test('a turn that waits when the chat ends continues in the next chat, which shows its answer', async () => {
    await ask('a coat');
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
