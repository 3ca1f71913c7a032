// Tests the chat of a person: `gdn run` in a real terminal (tmux), with bundles that use the scripted model.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { hasTmux, TmuxTerminal } from '../testing/tmux-terminal.ts';
import { testInProof } from '../../../../test/samples.ts';
import { until } from '../../../../test/until.ts';

// This timeout is long, because processes start one after the other and the machine may be busy.
setDefaultTimeout(180_000);

const story = `${'One word after the other. '.repeat(15)}The end.`;
const report =
  '## Three teas\n\nAll of them are **green**, and are described in [the book of tea](https://example.com/tea) by its author.\n\n' +
  '1. Sencha\n   - steamed\n   - from *Uji*, where the fields are old and the water of the river is soft and clear\n2. Matcha\n\n' +
  '| tea | grams | taste |\n|:--|--:|:--|\n| Sencha | 5 | fresh |\n| 녹차 | 12 | mild, with a sweet end that stays for a long while after the cup is empty |\n\n' +
  '```sh\nboil --to 80\n```\nEnjoy.';
const script = `
- { when: 'report', say: ${JSON.stringify(report).replaceAll('`', '\\x60')} }
- { when: 'picture', say: 'I see {{files}}.' }
- { when: 'story', say: '${story}' }
- { when: 'epic', say: '${'One word after the other. '.repeat(400)}' }
- { when: 'weather', say: 'Let me look.', call: { tool: weather__get, args: { city: Seoul } } }
- { when: 'Atlantis', call: { tool: weather__get, args: { city: Atlantis } } }
- { when: 'slow', call: { tool: weather__get, args: { city: Slow } } }
- { when: 'helper', call: { tool: agents__request, args: { target: helper, input: weather } } }
- { when: 'attack', say: "\\e]0;pwned\\a\\e[2J\\e[31mred" }
- { when: 'broken', fail: { message: 'Overloaded.' } }
- { afterTool: weather__get, say: 'It is {{result.tempC}} degrees.' }
- { afterTool: agents__request, say: 'The helper has spoken.' }
- { say: 'You said: {{input}}' }`.trim();

const bundle = {
  'goondan.yaml': sampleBundle({
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
  }).replace(
    'kind: Agent\nmetadata: { name: helper }\nspec:\n',
    'kind: Agent\nmetadata: { name: helper }\nspec:\n  tools: [Tool/weather]\n',
  ),
  'weather.ts': `export const handlers = {
  async get(ctx, { city }) {
    console.error('The thermometer is old.');
    await Bun.sleep(city === 'Slow' ? 120_000 : 1_000);
    if (city === 'Atlantis') throw new Error('There is no such city.');
    return { tempC: 21 };
  },
};
`,
};

const prices = `currency: USD
models: [{ provider: scripted, model: scripted, input: 100, output: 100, source: invented, date: 2026-11-17 }]
`;

let place: GdnPlace;
let terminal: TmuxTerminal;

async function openTerminal(): Promise<void> {
  place = new GdnPlace();
  await place.write('bundle', bundle);
  await Bun.write(join(place.folder, 'prices.yaml'), prices);
  terminal = await TmuxTerminal.open({
    cwd: place.folder,
    env: { GOONDAN_STATE_ROOT: place.stateRoot, NO_COLOR: '1' },
  });
}

async function closeTerminal(): Promise<void> {
  await terminal.close();
  expect(await place.remove()).toEqual([]);
}

async function start(...args: readonly string[]): Promise<void> {
  await terminal.run('run', 'bundle', '--trust', ...args);
  await terminal.see('/help lists what you can type.\n>');
}

async function quit(): Promise<number> {
  await terminal.press('C-d');
  await terminal.see(/\$$/);
  return terminal.exitCode();
}

describe.skipIf(!hasTmux)('one chat at a terminal', () => {
  let asked: string;
  let opened: string;
  beforeAll(async () => {
    await openTerminal();
    await terminal.run('run', 'bundle', '--prices', 'prices.yaml');
    asked = await terminal.see('[y/N]');
    await terminal.enter('y');
    opened = await terminal.see('/help lists what you can type.\n>');
  });
  afterAll(async () => {
    try {
      // Leaving ends the swarm.
      expect(await quit()).toBe(0);
      expect(await terminal.isCooked()).toBe(true);
      expect(place.processes()).toEqual([]);
    } finally {
      await closeTerminal();
    }
  });

  test('trust is asked for first, in the same terminal', () => {
    expect(asked).not.toContain('conversation');
    expect(opened).toContain('host · conversation default · swarm default · scripted/scripted');
  });

  test('an answer streams, and breaks between words', async () => {
    await terminal.enter('a story');
    const midway = await terminal.see(/One word[^]*host · \d+ s · Ctrl-C cancels\n>/);
    expect(midway).not.toContain('The end.');
    await terminal.see(/The\send\.\n.* · \d+ → \d+ tokens.*\n\n>$/);
    const [, said = ''] = /\n> a story\n([^]*The\send\.)\n/.exec(await terminal.everything()) ?? [];
    expect(said.replaceAll('\n', ' ')).toBe(story);
  });

  test('Markdown is drawn in the width of the terminal: a list, a table and code', async () => {
    await terminal.resize(80, 40);
    await terminal.enter('report');
    const seen = await terminal.see(/Enjoy\.\n.* · \d+ → \d+ tokens · 0\.\d+ USD\n\n>$/);
    expect(seen).toContain(
      `
Three teas

All of them are green, and are described in the book of tea
(https://example.com/tea) by its author.

1. Sencha
   • steamed
   • from Uji, where the fields are old and the water of the river is soft and
     clear
2. Matcha

tea     grams  taste
──────  ─────  ─────────────────────────────────────────────────────────────────
Sencha      5  fresh
녹차       12  mild, with a sweet end that stays for a long while after the cup
               is empty

  boil --to 80
Enjoy.
`,
    );
    await terminal.resize(100, 30);
  });

  test('tool calls, other agents, log lines and failures are shown when they happen', async () => {
    await terminal.enter('weather');
    await terminal.see(
      /Let me look\.\n(.*\n)*? {2}… weather__get {"city":"Seoul"} \d s\nhost · \d s · Ctrl-C cancels\n>/,
    );
    const seen = await terminal.see(/It is 21 degrees\.\n.* · \d+ → \d+ tokens.*\n\n>$/);
    expect(seen).toMatch(/Let me look\.\n(.*\n)*? {2}✓ weather__get {"city":"Seoul"} ok, \d\.\d s\nIt is 21/);
    expect(seen).toContain('\nwarn: host: The thermometer is old.\n');
    await terminal.enter('Atlantis');
    await terminal.see(/ {2}✗ weather__get {"city":"Atlantis"} failed, \d\.\d s: E_TOOL_FAILED: There is no such city/);
    await terminal.see(/degrees\.\n.* · \d+ → \d+ tokens.*\n\n>$/);
    await terminal.enter('helper');
    await terminal.see(
      / {2}… agents__request .* \d s\n {4}… helper \d s\n {6}… helper · weather__get {"city":"Seoul"} \d s\n/,
    );
    await terminal.see(
      / {2}✓ agents__request .*\n {4}✓ helper ok, \d\.\d s\n {6}✓ helper · weather__get .*\nThe helper has spoken\.\n.* tokens: own .*, called agents .* · 0\.\d+ USD\n\n>$/,
    );
    await terminal.enter('/usage');
    await terminal.see(/\nagent +calls +input +output +from cache +to cache +cost\nhost +\d/);
    await terminal.type('/tr\t');
    await terminal.see('> /trace');
    await terminal.press('Enter');
    await terminal.see(/\nturn \w+ of trace \w+, .*\nasked: helper\n/);
    await terminal.enter('/tools');
    await terminal.see(/\nTools: +weather__get, agents__request/);
    await terminal.enter('broken');
    await terminal.see(
      /> broken\nE_MODEL_FAILED: Overloaded\.\n.+\nThe model sees this message with your next one\.[^>]+\n\n>$/,
    );
    await terminal.enter('/hlep');
    await terminal.see('There is no /hlep. Did you mean /help?');
  });

  test('Y-02 @file sends a file; if the file is missing, the error names it and the line stays', async () => {
    const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await Bun.write(join(place.folder, 'my cat.png'), Buffer.from(picture, 'base64'));
    await terminal.enter('the picture @"my cat.png"');
    await terminal.see(
      /> the picture @"my cat\.png"\nI see \[image my cat\.png, 70 B\]\.\n.* · \d+ → \d+ tokens.*\n\n>$/,
    );
    await terminal.enter('the picture @dog.png');
    await terminal.see(
      /E_USAGE: The file dog\.png does not exist\.\nCheck the path, or write @@ .*\n\n> the picture @dog\.png$/,
    );
    await terminal.press('C-u');

    // The same during a turn: the message with the file goes to the running turn, and the other one returns.
    await terminal.enter('weather');
    await terminal.see('… weather__get');
    await terminal.enter('a picture, too: @dog.png');
    await terminal.see(/The file dog\.png does not exist\.[^]*> a picture, too: @dog\.png$/);
    await terminal.press('C-u');
    await terminal.enter('a picture, too: @"my cat.png"');
    await terminal.see(
      /> a picture, too: @"my cat\.png"\nI see \[image my cat\.png, 70 B\]\.\n.* · \d+ → \d+ tokens.*\n\n>$/,
    );
  });

  test('text of a model does not control the terminal', async () => {
    await terminal.enter('/new attack');
    await terminal.see(/host · conversation attack(.*\n)+>$/);
    const title = await terminal.title();
    await terminal.enter('attack');
    await terminal.see(/> attack\n␛\]0;pwned␇␛\[2J␛\[31mred\n.* · \d+ → \d+ tokens.*\n\n>$/);
    expect(await terminal.title()).toBe(title);
    expect(await terminal.screen()).toContain('host · conversation attack');
  });

  test('the line: wide characters, several lines, a paste, a narrow terminal', async () => {
    await terminal.type('안녕하세요');
    await terminal.press('Left', 'Left');
    await terminal.type('!');
    await terminal.see('> 안녕하!세요');
    // The column is the sum of the label, three characters of two columns each, and one character of one column.
    await terminal.seeCursorAt(9);
    await terminal.press('Home');
    await terminal.type('# ');
    await terminal.see('> # 안녕하!세요');
    await terminal.seeCursorAt(4);
    await terminal.press('End', 'M-Enter');
    await terminal.type('two\\');
    await terminal.press('Enter');
    await terminal.type('three');
    await terminal.see('> # 안녕하!세요\n  two\n  three');
    await terminal.paste('\nfour\nfive');
    await terminal.see('  three\n  four\n  five');
    await terminal.resize(20, 10);
    await terminal.press('C-u');
    await terminal.type('a line that is wider than this');
    await terminal.see('  four\n  a line that is wid\ner than this');
    await terminal.resize(80, 24);
    await terminal.press('Enter');
    await terminal.see(
      /You said: # 안녕하!세요\ntwo\nthree\nfour\na line that is wider than this\n.* · \d+ → \d+ tokens.*\n\n>$/,
    );
    await terminal.resize(3, 2);
    await terminal.enter('ok');
    await Bun.sleep(1_000);
    await terminal.resize(100, 30);
    await terminal.see(/You said: ok\n.* · \d+ → \d+ tokens.*\n\n>$/);
  });
});

describe.skipIf(!hasTmux)('a chat at a terminal', () => {
  beforeEach(openTerminal);
  afterEach(closeTerminal);

  test('Ctrl-C cancels the turn, and the chat continues; after a restart it shows the last messages', async () => {
    await start();
    await terminal.enter('an epic');
    await terminal.see('One word');
    await terminal.type('what waits');
    await terminal.see('Enter: for this turn · Tab: as the next turn\n> what waits');
    await terminal.press('Tab');
    await terminal.see('waiting: what waits');
    await terminal.press('C-c');
    await terminal.see(/Cancelled\.\n\n> what waits$/);
    await terminal.press('Enter');
    await terminal.see(/You said: what waits\n.* · \d+ → \d+ tokens.*\n\n>$/);
    expect(await quit()).toBe(0);
    await terminal.clear();
    await start();
    expect(await terminal.screen()).toMatch(/\n> an epic\n(.*\n)*\n> what waits\nYou said: what waits\n\n/);
    await terminal.press('Up');
    await terminal.see(/\n> what waits$/);
    // The first Ctrl-C clears the line, the second warns, and the third ends the chat.
    await terminal.press('C-c');
    await terminal.see(/\n>$/);
    await terminal.press('C-c');
    await terminal.see('Ctrl-C again to quit.\n>');
    await terminal.press('C-c');
    await terminal.see(/\$$/);
    expect(await terminal.exitCode()).toBe(0);
    expect(await terminal.isCooked()).toBe(true);
  });

  test('Y-08 Enter during a turn gives the message to that turn, after its tool call', async () => {
    await start();
    await terminal.enter('weather');
    await terminal.see('… weather__get');
    await terminal.enter('and tomorrow');
    await terminal.see('now: and tomorrow');
    await terminal.see(/Let me look\.\n(.*\n)*> and tomorrow\nYou said: and tomorrow\n.* · \d+ → \d+ tokens.*\n\n>$/);
    // It is one turn, and the message is in its history.
    expect(await quit()).toBe(0);
    await terminal.clear();
    await terminal.run('trace', 'last', '--bundle', 'bundle');
    await terminal.see('+ input from gdn while the turn ran: and tomorrow');
  });

  testInProof('Ctrl-C twice in the middle of a turn quits: 130', async () => {
    await start();
    await terminal.enter('weather');
    await terminal.see('… weather__get');
    await terminal.press('C-c', 'C-c');
    await terminal.see(/\$$/);
    expect(await terminal.exitCode()).toBe(130);
    expect(await terminal.isCooked()).toBe(true);
    // The turn was cancelled, so the next start does not continue it.
    const { stdout } = await place.run('instance', 'export', 'host', 'default', '--bundle', 'bundle');
    expect(JSON.parse(stdout)).toMatchObject({ version: 1, inputs: [] });
  });

  test('Ctrl-\\ quits at once during a turn of minutes: 130, and nothing is left', async () => {
    await start();
    await terminal.enter('slow');
    await terminal.see('… weather__get');
    await terminal.press('C-\\');
    await terminal.see(/\$$/);
    expect(await terminal.exitCode()).toBe(130);
    expect(await terminal.isCooked()).toBe(true);
    expect(place.processes()).toEqual([]);
    // The turn was cancelled: the next start records the cancel and does not continue the turn.
    expect((await place.run('run', 'bundle', '--trust', '--input', 'hi')).stdout).toBe('You said: hi\n');
    const { stdout } = await place.run('history', 'host', 'default', '--bundle', 'bundle', '--json');
    expect(stdout).toContain('E_CANCELLED');
  });

  test('a state root that is taken away: the chat says so, 1, and nothing brings it back', async () => {
    await start();
    renameSync(place.stateRoot, join(place.folder, 'taken-away'));
    await terminal.enter('hello');
    const seen = await terminal.see(/Not sent:\nhello\nThe swarm was stopped\..*\n\$$/);
    expect(seen).toContain('E_FENCED');
    expect(await terminal.exitCode()).toBe(1);
    expect(place.processes()).toEqual([]);
    expect(existsSync(place.stateRoot)).toBe(false);
  });

  testInProof('/quit lets a turn finish, and Ctrl-C shortens the wait', async () => {
    await start();
    await terminal.enter('slow');
    await terminal.see('… weather__get');
    await terminal.enter('/quit');
    await terminal.see('Running turns may finish. Ctrl-C hurries.');
    await terminal.press('C-c');
    await terminal.see(/\$$/);
    expect(await terminal.exitCode()).toBe(0);
    expect(place.processes()).toEqual([]);
  });

  testInProof('SIGTERM: the terminal is restored, and nothing is left', async () => {
    await terminal.run('run', join(place.folder, 'bundle'), '--trust');
    await terminal.see('/help lists what you can type.\n>');
    await terminal.type('not sent');
    await terminal.see('> not sent');
    const main = place.processes().find((line) => /src\/main\.ts|gdn\/main\.js|run-newest\.cjs/.test(line));
    process.kill(Number(main?.split(' ')[0]), 'SIGTERM');
    await terminal.see(/Not sent:\nnot sent\n\$$/);
    expect(await terminal.exitCode()).toBe(0);
    expect(await terminal.isCooked()).toBe(true);
  });

  testInProof('a closed window: the turn finishes, and nothing is left', async () => {
    await start();
    await terminal.enter('weather');
    await terminal.see('… weather__get');
    await terminal.close();
    const shown = async () => (await place.run('instance', 'show', 'host', 'default', '--bundle', 'bundle')).stdout;
    await until(async () => (await shown()).includes('It is 21 degrees.'), { within: 40_000 });
  });

  testInProof(
    'a chat with a running swarm leaves it running, also with Ctrl-\\, and says when it is stopped elsewhere',
    async () => {
      await place.run('run', 'bundle', '--trust', '--detach');
      const status = async () => JSON.parse((await place.run('status', '--bundle', 'bundle', '--json')).stdout);
      await start('--agent', 'helper', '--instance', 'a/b');
      expect(await terminal.screen()).toContain('helper · conversation a/b · ');
      expect(await terminal.screen()).toContain('The swarm was already running, and keeps running when you leave.');
      await terminal.enter('weather');
      await terminal.see(/✓ weather__get(.*\n)*It is 21 degrees\.\n.* · \d+ → \d+ tokens.*\n\n>$/);
      await terminal.enter('/agent hots');
      await terminal.see(/E_AGENT_UNKNOWN: There is no agent "hots"\. Agents: host, helper\.\nDid you mean `host`\?/);
      await terminal.enter('/agent host');
      await terminal.see('host · conversation default · ');
      await terminal.enter('/new plan');
      await terminal.see('host · conversation plan · ');
      await terminal.enter('/status');
      await terminal.see(/helper \(a\/b\): \w+, process \d+/);
      expect(await quit()).toBe(0);
      const { pid, running } = await status();
      expect(running).toBe(true);

      // It can leave even when the swarm does not answer.
      await terminal.clear();
      await start('--instance', 'slow');
      await terminal.enter('slow');
      await terminal.see('… weather__get');
      process.kill(pid, 'SIGSTOP');
      try {
        await terminal.press('C-\\');
        await terminal.see(/\$$/);
        expect(await terminal.exitCode()).toBe(130);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      // The swarm, which answers again, has cancelled the turn.
      const history = () => place.run('history', 'host', 'slow', '--bundle', 'bundle', '--json');
      await until(async () => (await history()).stdout.includes('E_CANCELLED'), { within: 40_000 });

      await terminal.clear();
      await start();
      await terminal.type('half a sen');
      await place.run('stop', '--bundle', 'bundle');
      await terminal.see(/Not sent:\nhalf a sen\nThe swarm was stopped\. `gdn run bundle` starts it again\.\n\$$/);
      expect(await terminal.exitCode()).toBe(0);
    },
  );

  testInProof('TERM=dumb: line by line, edited by the terminal itself', async () => {
    await terminal.enter('export TERM=dumb');
    await start();
    await terminal.enter('weather');
    await terminal.see(
      /Let me look\.\n(.*\n)*? {2}✓ weather__get .*\nIt is 21 degrees\.\n.* · \d+ → \d+ tokens.*\n\n>$/,
    );
    await terminal.enter('an epic');
    await Bun.sleep(500);
    // The live part is not shown on a dumb terminal.
    expect(await terminal.screen()).toEndWith('> an epic');
    await terminal.press('C-c');
    await terminal.see(/Cancelled\.\n\n>$/);
    expect(await quit()).toBe(0);
  });
});
