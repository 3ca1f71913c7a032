// The chat as a person has it: `gdn run` in a real terminal (tmux), on bundles of the scripted model.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { GdnPlace } from '../testing/gdn-place.ts';
import { type SampleOptions, sampleBundle } from '../testing/sample-bundle.ts';
import { hasTmux, TmuxTerminal } from '../testing/tmux-terminal.ts';

// Several processes one after the other, on a machine that may be busy.
setDefaultTimeout(120_000);

const script = `
- { when: 'story', say: '${'One word after the other. '.repeat(40)}The end.' }
- { when: 'weather', say: 'Let me look.', call: { tool: weather__get, args: { city: Seoul } } }
- { when: 'Atlantis', call: { tool: weather__get, args: { city: Atlantis } } }
- { when: 'helper', call: { tool: agents__request, args: { target: helper, input: 'weather' } } }
- { when: 'attack', say: "\\e]0;pwned\\a\\e[2J\\e[31mred\\u202e" }
- { when: 'broken', fail: { message: 'Overloaded.' } }
- { afterTool: weather__get, say: 'It is {{result.tempC}} degrees.' }
- { afterTool: agents__request, say: 'The helper has spoken.' }
- { say: 'You said: {{input}}' }`.trim();

const sample: SampleOptions = {
  script,
  options: 'tokensPerSecond: 40',
  agents: ['helper'],
  agent: 'tools: [Tool/weather, Tool/agents]',
  more: `kind: Tool
metadata: { name: weather }
spec:
  entry: ./weather.ts
  exports:
    - name: get
      description: The weather of a city.
      parameters: { type: object, properties: { city: { type: string } } }`,
};

describe.skipIf(!hasTmux)('the chat at a terminal', () => {
  let place: GdnPlace;
  let terminal: TmuxTerminal;
  beforeEach(async () => {
    place = new GdnPlace();
    const env = { GOONDAN_STATE_ROOT: place.stateRoot, NO_COLOR: '1' };
    terminal = await TmuxTerminal.open({ cwd: place.folder, env });
  });
  afterEach(async () => {
    await terminal.close();
    expect(await place.remove()).toEqual([]);
  });

  async function start(...args: readonly string[]): Promise<void> {
    await place.write('bundle', { 'goondan.yaml': sampleBundle(sample), 'weather.ts': weather });
    await terminal.run('run', 'bundle', '--trust', ...args);
    await terminal.see('· conversation ');
  }

  async function say(text: string): Promise<void> {
    await terminal.type(text);
    await terminal.press('Enter');
  }

  test('an answer streams, and is one line in the scrollback', async () => {
    await start();
    await say('a story');
    await terminal.see(/One word[^]*host · \d+ s · Ctrl-C cancels\n>/);
    expect(await terminal.screen()).not.toContain('The end.');
    await terminal.see(/The end\.\n\n>$/);
    expect(await terminal.everything()).toContain(`\n> a story\n${'One word after the other. '.repeat(40)}The end.\n`);
  });
});

const weather = `export const handlers = {
  async get(ctx, { city }) {
    await Bun.sleep(1_500);
    if (city === 'Atlantis') throw new Error('There is no such city.');
    return { tempC: 21 };
  },
};
`;
