// Tests Studio as a person uses it: `gdn studio` with the demo swarm, in a real Chromium.
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { WorkspaceView } from '@goondan/cli/studio';
import type { Browser, Page, Request } from 'playwright-core';
import { samples, sampleStep, testInProof } from '../../../test/samples.ts';
import { commitChangeset } from '../../cli/src/testing/commit-changeset.ts';
import { AnthropicCache } from '../../runtime/src/agent/model/providers/wire/anthropic-cache.ts';
import { anthropicCase } from '../../runtime/src/agent/model/providers/wire/provider-cases.ts';
import { startWireServer, type WireServer } from '../../runtime/src/agent/model/providers/wire/wire-server.ts';
import { hasChromium, openChromium } from './testing/chromium.ts';
import { StudioPlace } from './testing/studio-place.ts';
import { testAnswers, testQuestions } from './testing/test-questions.ts';
import { writeLongLife } from './testing/write-long-life.ts';
import { until } from '../../../test/until.ts';

// This timeout is long, because a browser and a swarm start on a machine that may be busy.
setDefaultTimeout(180_000);

const question = 'What is the weather in Seoul for the next 30 days?';
const answer = 'Seoul, the next 3 days: 12 °C, 14 °C, 11 °C.';
/**
 * Text that the model takes seconds to repeat. Its words are long, because the model writes word by word, at a speed in
 * characters: with short words, every window would draw itself again much more often in the same time.
 */
const longText = (characters: number) => `${'blah'.repeat(12)}, `.repeat(characters / 50);

let browser: Browser;
beforeAll(async () => {
  if (hasChromium) browser = await openChromium();
});
afterAll(async () => {
  if (hasChromium) await browser.close();
});

describe.skipIf(!hasChromium)('Studio in a browser', () => {
  let studio: StudioPlace;
  let page: Page;

  beforeAll(async () => {
    studio = new StudioPlace(browser);
    await studio.runDemo();
    await studio.openStudio('swarm');
    page = await studio.openPage();
  });
  afterAll(async () => {
    expect(await studio.close()).toEqual([]);
  });

  test('opens with the token, which does not stay in the address', async () => {
    await page.getByRole('heading', { name: 'concierge' }).waitFor();
    expect(page.url()).not.toContain('token');
    // A client without the cookie of this browser is refused.
    const refused = await fetch(new URL('/', studio.url), { headers: { Accept: 'text/html' } });
    expect(refused.status).toBe(401);
    expect(await refused.text()).toContain('gdn studio');
  });

  test('a sent message is answered', async () => {
    // Types every key here. Elsewhere texts are pasted, because each key makes the browser draw.
    await page.keyboard.press('/');
    await page.keyboard.type(question);
    await page.keyboard.press('Enter');
    await page.locator('.turn:not(.is-live)', { hasText: answer }).waitFor();
    // The called agent appears without a reload.
    await page.getByRole('link', { name: /^forecaster/ }).waitFor();
  });

  test('shows the onion of that turn, across both agents, and the catalog diff of a layer', async () => {
    await page.locator('.turn', { hasText: answer }).getByRole('button', { name: 'Onion' }).click();
    const layer = page.getByRole('treeitem', { name: /^read-only/ }).first();
    await layer.click();
    const details = page.getByRole('region', { name: 'What read-only did' });
    expect(await details.textContent()).toContain('toolCatalog.weather__save removed');
    expect(await details.locator('.is-removed').textContent()).toContain('"name": "weather__save"');
    expect(await details.textContent()).toMatch(/own [\d.]+ m?s/);
    // The page shows the same id as the commands.
    expect(await page.locator('.inspector-says').textContent()).toMatch(/^turn [0-9a-f]{8}[0-9a-f-]* · /);

    // Each band of the trace is nested in the bands around it.
    const path = await layer.evaluate((element) => {
      const titles: (string | null | undefined)[] = [];
      for (let band = element.closest('.band'); band !== null; band = band.parentElement?.closest('.band') ?? null)
        titles.unshift(band.querySelector(':scope > .band-head .band-title')?.textContent);
      return titles;
    });
    expect(path).toEqual([
      'concierge',
      'memory',
      '1',
      'agents__request',
      'approval · approval',
      'forecaster',
      '1',
      'read-only',
    ]);
  });

  test('a model band shows the prompt that the model got, and a tool band its arguments and result', async () => {
    await page.getByRole('treeitem', { name: /^tool weather__forecast/ }).click();
    const tool = page.getByRole('region', { name: 'What weather__forecast did' });
    expect(await tool.textContent()).toMatch(/Arguments\{.*"city": "Seoul".*Result\{.*"status": "ok"/s);

    const asked: string[] = [];
    const note = (request: Request) => void (request.url().includes('/prompt?') && asked.push(request.url()));
    page.on('request', note);
    await page
      .getByRole('treeitem', { name: /^model Model\/main/ })
      .first()
      .click();
    const model = page.getByRole('region', { name: 'What Model/main did' });
    expect(asked).toEqual([]);
    await model.locator('summary', { hasText: 'Prompt' }).click();
    await model.getByText('Exact: the body below').waitFor();
    const parts = await model.locator('h4').allTextContents();
    expect(parts.slice(0, 2)).toEqual(['system · system prompt of agent concierge', 'user · person via studio']);
    expect(parts).toContain('system · extension memory');
    expect(parts).toContain('tool agents__request · Tool/agents');
    // The body is the last part, and closed.
    expect(parts.at(-2)).toMatch(/^reply · tool-calls · \d+ → \d+ tokens$/);
    await model.locator('summary', { hasText: 'Body' }).click();
    const body = await model.locator('.prompt-body pre').textContent();
    expect(JSON.parse(body ?? '')).toMatchObject({ messages: [{ role: 'system' }, { content: question }, {}] });
    expect(asked).toHaveLength(1);
    page.off('request', note);
  });

  testInProof('moves through the onion with the arrow keys', async () => {
    await page.getByRole('treeitem', { name: /^turn\s*concierge/ }).click();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('region', { name: 'What memory did' }).waitFor();
    expect(await page.getByRole('region', { name: 'What memory did' }).textContent()).toContain('append system');
    // The left arrow closes an open band, and then moves out.
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(() => document.querySelector('.band.is-step') === null);
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('region', { name: 'What concierge did' }).waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.inspector').waitFor({ state: 'detached' });
  });

  testInProof('a tool call is approved', async () => {
    await send(page, 'Book a picnic in Lisbon');
    const approval = page.getByRole('region', { name: /waits for you/ });
    await approval.waitFor();
    expect(await approval.textContent()).toContain('"city": "Lisbon"');
    expect(await page.locator('.turn.is-live').textContent()).toMatch(/waits for you \d+ s.*waits for a person\d+ s/);
    await approval.getByRole('button', { name: 'Approve' }).click();
    await page.locator('.turn:not(.is-live)', { hasText: 'is booked' }).waitFor();
    await approval.waitFor({ state: 'detached' });
  });

  test('and denied, with a reason for the agent; L-05 a change of the bundle is shown as its diff', async () => {
    // The demo has no agent that changes its bundle, so the answer of the server becomes one about a change.
    const whole = /\/api\/workspaces\/[^/?]+$/;
    const diff = '--- a/a.md\n+++ b/a.md\n@@ -1,2 +1,2 @@\n same\n--- old\n+new\u202e\n';
    const args = { changesetId: 'c1', digest: 'd', files: [{ path: 'a.md', change: 'changed', diff }] };
    await page.route(whole, async (route) => {
      const response = await route.fetch();
      const view = (await response.json()) as WorkspaceView;
      const questions = view.questions.map((approval) => ({ ...approval, kind: 'change', args }));
      await route.fulfill({ response, json: { ...view, questions } });
    });
    await send(page, 'Book a picnic in Toronto');
    const approval = page.getByRole('region', { name: 'A change of the bundle waits for you' });
    await approval.waitFor();
    expect(await approval.textContent()).toContain('concierge wants to change its bundle');
    expect(await approval.textContent()).toContain('changed a.md');
    const painted = await approval
      .locator('.diff span')
      .evaluateAll((lines) => lines.map((line) => `${line.className}|${line.textContent ?? ''}`));
    expect(painted).toEqual([
      'diff-file|--- a/a.md\n',
      'diff-file|+++ b/a.md\n',
      'diff-place|@@ -1,2 +1,2 @@\n',
      '| same\n',
      'diff-removed|--- old\n',
      'diff-added|+new\\u202e\n',
    ]);
    await approval.getByRole('textbox').fill('Too cold there.');
    await approval.getByRole('button', { name: 'Deny' }).click();
    await approval.waitFor({ state: 'detached' });
    // Not before: the next answer of the server would show another question. A request may still be on its way.
    await page.unrouteAll({ behavior: 'wait' });
    await page.locator('.turn:not(.is-live)', { hasText: 'Toronto' }).getByText('Too cold there.').first().waitFor();
  });

  testAnswers(() => ({ studio, page }));

  test('the slider goes back to any moment, and to the newest again', async () => {
    const messages = page.locator('.messages .message');
    const now = await messages.count();
    const slider = page.getByRole('slider', { name: /after event/ });
    await slider.focus();
    await page.keyboard.press('Home');
    await page.getByText('after #0 of').waitFor();
    await expectCount(page, 0);
    await page.keyboard.press('ArrowRight');
    await page.getByText('after #1 of').waitFor();
    await expectCount(page, 1);
    expect(await messages.first().textContent()).toContain(question);
    // At an earlier moment, an ephemeral message of that turn is visible again.
    await page.keyboard.press('ArrowRight');
    await page.locator('.message.by-extension', { hasText: 'visit number 1' }).waitFor();
    // The address of the page contains the moment.
    expect(page.url()).toContain('at=2');
    await page.getByRole('button', { name: 'back to now' }).click();
    await expectCount(page, now);
  });

  testInProof('every event is listed, and links to its moment', async () => {
    await page.locator('.turn', { hasText: answer }).getByRole('button', { name: 'Onion' }).click();
    await page.getByRole('tab', { name: 'Events' }).click();
    const event = page.locator('.event', { hasText: 'result of agents__request' });
    await event.click();
    await page.getByText('after #4 of').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.getByText(/^now ·/).waitFor();
  });

  testInProof('the onion opened by a key has the focus, which returns when it closes', async () => {
    const turn = page.locator('.turn', { hasText: answer }).getByRole('button', { name: 'Onion' });
    await turn.focus();
    await page.keyboard.press('Enter');
    await page.locator('[role=treeitem]:focus').waitFor();
    await page.keyboard.press('ArrowDown');
    expect(await page.locator('[role=treeitem]:focus').getAttribute('aria-label')).toMatch(/^memory, 1 change, own/);
    // For screen readers, too, the contents of a band are inside the band.
    const tree = await page.getByRole('tree').ariaSnapshot();
    expect(tree).toMatch(/^ {2}- treeitem "turn concierge.*\n[^]*?\n {4}- group:\n {6}- treeitem "memory/m);
    await page.keyboard.press('Escape');
    await page.locator('.turn-onion:focus').waitFor();
    expect(await turn.evaluate((button) => button === document.activeElement)).toBe(true);
  });

  test('a reload during a turn shows it again: its input, the waiting call, and the cancel button', async () => {
    await send(page, 'Book a picnic in Nairobi');
    await page.locator('.question').waitFor();
    await page.keyboard.type('not sent yet');
    await page.reload();
    await page.locator('.turn.is-pending', { hasText: 'picnic in Nairobi' }).waitFor();
    await page.locator('.question').waitFor();
    expect(await page.title()).toStartWith('(1) ');
    expect(await page.locator('.composer textarea').inputValue()).toBe('not sent yet');
    await page.locator('.turn.is-live').getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.turn:not(.is-live)', { hasText: 'The turn was cancelled' }).waitFor();
    await page.locator('.question, .is-live, .is-pending').first().waitFor({ state: 'detached' });
    await page.locator('.composer textarea').fill('');
  });

  testInProof('Y-08 a message that is sent during a turn is shown in this turn', async () => {
    await send(page, 'Book a picnic in Lima');
    await page.locator('.question').waitFor();
    await page.locator('.composer textarea').fill('bring a blanket');
    await page.getByRole('button', { name: 'Next turn' }).waitFor();
    await page.getByRole('button', { name: 'Send now' }).click();
    await page.locator('.turn.is-pending', { hasText: 'bring a blanket' }).waitFor();
    await page.locator('.question').getByRole('button', { name: 'Approve' }).click();
    const turn = page.locator('.turn:not(.is-live):not(.is-pending)', { hasText: 'picnic in Lima' });
    await turn.locator('.is-user', { hasText: 'bring a blanket' }).waitFor();
    await page.locator('.is-pending').first().waitFor({ state: 'detached' });
  });

  testInProof('an answer is shown while it is written, and a reload shows everything written so far', async () => {
    await page.evaluate(noteWhatIsWritten);
    // The model repeats this input, which takes seconds, so that the text arrives in several pieces even on a busy
    // machine.
    await send(page, `again ${longText(500)}`);
    const noted = await page.waitForFunction(
      () => {
        const { written } = window as unknown as { written: number[] };
        // The first words are there, so that the page after the reload must show them.
        return written.length > 2 && (written.at(-1) ?? 0) > 120 && written;
      },
      undefined,
      { polling: 50 },
    );
    const lengths = (await noted.jsonValue()) || [];
    expect(lengths).toEqual(lengths.toSorted((one, other) => one - other));
    // Nothing moves for a person who wants less motion, not even the mark after the newest word.
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    await page.reload();
    const streaming = page.locator('.is-streaming .text');
    await streaming.waitFor();
    expect(await streaming.textContent()).toStartWith('You said: again blahblah');
    await page.locator('.turn:not(.is-live)', { hasText: 'You said: again' }).waitFor();
  });

  testInProof('many windows of one browser all show the answer while it is written, and can read more', async () => {
    // In `npm run proof` there are eight windows, and a browser has six connections to a server for all its windows.
    // With fewer windows, only the open requests show that a window would keep a connection for itself.
    const length = sampleStep === 1 ? 7 : 1;
    const others = await Promise.all(Array.from({ length }, () => page.context().newPage()));
    const open = new Set<Request>();
    for (const other of others) {
      other.setDefaultTimeout(60_000);
      other.on('request', (request) => open.add(request));
      other.on('requestfinished', (request) => open.delete(request));
      other.on('requestfailed', (request) => open.delete(request));
      await other.goto(page.url());
      await other.getByRole('heading', { name: 'concierge' }).waitFor();
    }
    await page.bringToFront();
    await send(page, `many ${longText(1000)}`);
    const seeIn = (windows: readonly Page[], what: string) =>
      Promise.all(windows.map((each) => each.locator(what, { hasText: 'You said: many' }).waitFor()));
    await seeIn([page, ...others], '.is-streaming');
    await until(() => open.size === 0, { about: 'every request has ended' });
    // The browser has connections left for other requests.
    const last = others.pop();
    await last?.getByRole('link', { name: 'Overview' }).click();
    await last?.getByRole('heading', { name: 'Latest turns' }).waitFor();
    await last?.close();
    await seeIn([page, ...others], '.turn:not(.is-live)');
    await Promise.all(others.map((each) => each.close()));
  });

  testInProof('a waiting call is visible below a long answer, even in a small window', async () => {
    await send(page, 'Book a picnic in Nairobi');
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.waitFor();
    await waitUntilSeen(page, '.question button.primary');
    await page.setViewportSize({ width: 420, height: 700 });
    await waitUntilSeen(page, '.question button.primary');
    await page.setViewportSize({ width: 1440, height: 900 });
    await waitUntilSeen(page, '.question button.primary');
    await page.locator('.turn.is-live').getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.question, .is-live').first().waitFor({ state: 'detached' });
  });

  testInProof(
    'a reader who scrolled up stays there while more comes, and follows again after returning to the end',
    async () => {
      const top = () => page.locator('.messages').evaluate((box) => box.scrollTop);
      await page.locator('.messages').hover();
      await page.mouse.wheel(0, -10_000);
      await page.waitForFunction(() => {
        const box = document.querySelector('.messages');
        return box !== null && box.scrollTop === 0 && box.scrollHeight - box.clientHeight > 60;
      });
      const before = await top();
      await send(page, 'What is the weather in Lisbon?');
      const answered = page.locator('.turn:not(.is-live)', { hasText: 'Lisbon, tomorrow' }).last();
      await answered.waitFor();
      expect(await top()).toBe(before);
      await page.locator('.messages').hover();
      await page.mouse.wheel(0, 10_000);
      await waitUntilSeen(page, '.turn:last-of-type .message:last-child');
    },
  );

  testInProof('the form for a new conversation has its place in the list', async () => {
    await page.getByRole('button', { name: 'New conversation' }).click();
    const key = page.getByRole('textbox', { name: 'Key of the conversation' });
    await key.waitFor();
    const [box, list] = [await key.boundingBox(), await page.locator('.sidebar').boundingBox()];
    expect(await page.locator('.sidebar').evaluate((nav) => nav.scrollLeft)).toBe(0);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan((list?.x ?? 0) + (list?.width ?? 0));
    await key.press('Escape');
    await page.getByRole('button', { name: 'New conversation' }).waitFor();
  });

  test('text of an agent is shown as text, whatever it contains', async () => {
    const attack = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
    const picture = '![map](https://example.com/map.png)';
    await send(page, `${picture} ${attack}`);
    await page.locator('.turn:not(.is-live)', { hasText: `You said: map ${attack}` }).waitFor();
    expect(await page.title()).toBe('concierge · Goondan Studio');
    expect(await page.locator('.messages img, .messages script').count()).toBe(0);
  });

  testInProof('light and dark follow the system, and the key t', async () => {
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const light = await ground();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForFunction(
      (before) => getComputedStyle(document.documentElement).backgroundColor !== before,
      light,
    );
    await page.keyboard.press('Escape');
    await page.keyboard.press('t');
    expect(await ground()).toBe(light);
    await page.emulateMedia({ colorScheme: 'light' });
    expect(await ground()).toBe(light);
  });

  test('the overview shows the agents and the latest turns', async () => {
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('button', { name: /^concierge/ }).waitFor();
    await page.getByRole('link', { name: question }).click();
    await page
      .getByRole('treeitem', { name: /^read-only/ })
      .first()
      .waitFor();
  });

  // This is shorter than the interval at which the page reads by itself.
  const soon = { timeout: 30_000 };

  testInProof('L-05 the overview shows a refused change with its reason, and a change with its parts', async () => {
    await page.getByRole('link', { name: 'Overview' }).click();
    const prompt = join(studio.place.folder, 'swarm/prompts/concierge.md');
    const text = await Bun.file(prompt).text();
    await rename(prompt, `${prompt}.away`);
    expect((await studio.place.run('reload', '--bundle', 'swarm')).exitCode).toBe(4);
    const changes = page.locator('.changes');
    await changes.getByText('E_BUNDLE_INVALID').waitFor(soon);
    await rename(`${prompt}.away`, prompt);
    await Bun.write(prompt, `${text}\nBe brief.\n`);
    await studio.gdn('reload', '--bundle', 'swarm');
    await changes.locator('summary', { hasText: 'concierge' }).click(soon);
    await changes.locator('li', { hasText: /^updated Prompt$/ }).waitFor();
    await page.getByRole('link', { name: question }).click();
  });

  testInProof('the overview lists the changesets, and shows the diff of one', async () => {
    await page.getByRole('link', { name: 'Overview' }).click();
    const bundle = {
      stateRoot: studio.place.stateRoot,
      bundleFolder: join(studio.place.folder, 'swarm'),
      swarm: 'swarm',
    };
    const path = 'prompts/concierge.md';
    const text = await Bun.file(join(bundle.bundleFolder, path)).text();
    const { id } = await commitChangeset(bundle, { [path]: `${text}\nBe kind.\n` });
    await studio.gdn('reload', '--bundle', 'swarm');
    const changeset = page.locator('.changesets details', { hasText: id });
    await changeset.locator('summary', { hasText: 'approved by alice' }).click(soon);
    await changeset.locator('.diff-added', { hasText: 'Be kind.' }).waitFor();
    await studio.gdn('changes', 'undo', id, '--yes', '--bundle', 'swarm');
    await changeset.locator('summary', { hasText: 'undone' }).waitFor(soon);
    await page.getByRole('link', { name: question }).click();
  });

  test('a fork made elsewhere appears', async () => {
    await studio.gdn('fork', 'concierge', 'default', '--as', 'second', '--bundle', 'swarm');
    await page.getByRole('link', { name: /^second/ }).waitFor(soon);
  });

  test('a call waits while the swarm stops', async () => {
    await page
      .locator('.conversations')
      .getByRole('link', { name: /^default/ })
      .first()
      .click();
    await send(page, 'Book a picnic in Kyoto');
    await page.locator('.question').waitFor();
  });

  test('a stopped swarm can still be read, and a conversation deleted elsewhere disappears', async () => {
    await studio.gdn('stop', '--bundle', 'swarm');
    await page.getByText('The swarm does not run').waitFor(soon);
    expect(await page.locator('.composer').textContent()).toContain('gdn run');
    expect(await page.locator('.messages').textContent()).toContain(answer);
    await studio.gdn('instance', 'delete', 'concierge', 'second', '--bundle', 'swarm', '--yes');
    await page.getByRole('link', { name: /^second/ }).waitFor({ state: 'detached', ...soon });
  });

  test('a question of the stopped swarm is answered from disk', async () => {
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.locator('.question').waitFor({ state: 'detached' });
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('the stopped swarm becomes live again, and uses the answer', async () => {
    await studio.gdn('run', 'swarm', '--trust', '--detach');
    await page.locator('.composer textarea').waitFor(soon);
    await send(page, 'Are you back?');
    await page.locator('.turn:not(.is-live)', { hasText: 'You said: Are you back?' }).waitFor();
    await page.locator('.turn:not(.is-live)', { hasText: 'Kyoto' }).getByText('is booked').first().waitFor();
  });

  testInProof('a conversation reset elsewhere is empty, and one deleted elsewhere disappears', async () => {
    await studio.gdn('restart', '--agent', 'concierge', '--fresh', '--bundle', 'swarm');
    await page
      .locator('.messages .message')
      .first()
      .waitFor({ state: 'detached', ...soon });
    await studio.gdn('instance', 'delete', 'concierge', 'default', '--bundle', 'swarm', '--yes');
    await page.getByText('Nothing has been said here yet').waitFor(soon);
  });

  test('and the browser reported no errors', () => {
    expect(studio.complaints).toEqual([]);
  });

  testInProof('a lost connection to Studio is shown, and missed changes appear when it is back', async () => {
    const { port } = new URL(studio.url);
    await studio.closeStudio();
    await page.getByText('Studio does not answer.').waitFor();
    await studio.gdn('send', '--bundle', 'swarm', '--input', 'Anybody there?', '--wait');
    await studio.openStudio('swarm', '--port', port);
    // Studio has a new token now, which the browser gets with the new link.
    await page.getByText('Open the link that').waitFor();
    expect((await page.context().request.get(studio.url)).status()).toBe(200);
    await page.locator('.turn', { hasText: 'You said: Anybody there?' }).waitFor();
    await page.locator('.connection p').waitFor({ state: 'detached' });
  });
});

describe.skipIf(!hasChromium)('Studio without a swarm', () => {
  /** The turns of a long conversation, with 100 messages each. */
  const TURNS = samples(100, 20);
  let studio: StudioPlace;
  let page: Page;

  beforeAll(async () => {
    studio = new StudioPlace(browser);
    await studio.openStudio();
    page = await studio.openPage('dark');
  });
  afterAll(async () => {
    expect(await studio.close()).toEqual([]);
  });

  test('shows the first command to type, and then its result', async () => {
    await page.getByRole('heading', { name: 'No swarm has run here yet' }).waitFor();
    expect(await page.textContent('main')).toContain('gdn demo --studio');
    // The workspace appears at once and complete: without a swarm, nobody tells Studio about later turns.
    const { stateRoot } = studio.place;
    const elsewhere = join(studio.place.folder, 'elsewhere');
    await writeLongLife({ stateRoot: elsewhere, turns: TURNS, perTurn: 100 });
    await mkdir(stateRoot, { recursive: true });
    await rename(join(elsewhere, 'workspaces'), join(stateRoot, 'workspaces'));
    // The page shows it without a reload.
    await page.getByRole('heading', { name: 'talker' }).waitFor();
  });

  test(`shows the newest messages of ${TURNS * 100}, and why the last turn failed, with the suggestion`, async () => {
    await page.getByText(`Message number ${TURNS * 100}.`).waitFor();
    await expectCount(page, 200);
    expect(await page.getByRole('note').textContent()).toBe('E_MODEL_FAILED Too many requests.Wait a minute.');
  });

  testInProof('goes to any of 10 000 moments', async () => {
    const slider = page.getByRole('slider', { name: /after event/ });
    await slider.fill('5000');
    await page.getByText('Message number 5000.').waitFor();
    // The conversation is scrolled to its end, so the last message is visible.
    await waitUntilSeen(page, '.turn:last-of-type .message:last-child');
    await slider.press('ArrowLeft');
    await page.getByText('Message number 5000.').waitFor({ state: 'detached' });
    await page.getByText('Message number 4999.').waitFor();
    // The timeline has few elements, however long the conversation is.
    expect(await page.locator('.timeline *').count()).toBeLessThan(20);
  });

  testInProof('and back, where it shows more on request', async () => {
    await page.keyboard.press('n');
    await page.getByText('Message number 10000.').waitFor();
    await page.getByRole('button', { name: 'show more' }).click();
    await expectCount(page, 1000);
  });

  testQuestions(() => ({ studio, page }));

  test('and the browser reported no errors', () => {
    expect(studio.complaints).toEqual([]);
  });
});

/**
 * A desk that asks a clerk, who answers with a schema. A layer changes the system prompt of the desk for its third
 * question. The prompts are long enough to be cached.
 */
const counted = (endpoint: string) => ({
  'goondan.yaml': [
    `kind: Model, metadata: { name: claude }, spec: { provider: anthropic, model: ${anthropicCase.model}, apiKey: key, endpoint: "${endpoint}/v1" }`,
    'kind: Model, metadata: { name: script }, spec: { provider: scripted, model: script, options: { script: [{ when: ^fail, fail: { message: No. } }, { say: Yes. }] } }',
    `kind: Agent, metadata: { name: desk }, spec: { modelConfig: { modelRef: Model/claude }, prompt: { system: ${'Be brief. '.repeat(500)} },
      tools: [Tool/agents], extensions: [Extension/greeter] }`,
    `kind: Agent, metadata: { name: clerk }, spec: { modelConfig: { modelRef: Model/claude }, prompt: { system: ${'Be exact. '.repeat(500)} },
      output: { schema: { type: object, properties: { city: { type: string } }, required: [city] } } }`,
    'kind: Agent, metadata: { name: porter }, spec: { modelConfig: { modelRef: Model/script } }',
    'kind: Extension, metadata: { name: greeter }, spec: { entry: ./greeter.ts }',
    `kind: Swarm, metadata: { name: hotel }, spec: { entryAgent: Agent/desk, agents: [Agent/desk, Agent/clerk, Agent/porter],
      policy: { spares: 0, maxFileBytes: 1000 } }`,
  ]
    .map((resource) => `{ apiVersion: goondan.ai/v1, ${resource} }\n`)
    .join('---\n'),
  'greeter.ts': `export function register({ pipeline }) {
    pipeline.register('model', (ctx) => {
      if (JSON.stringify(ctx.messages.at(-1)).includes('Third'))
        ctx.messages = [{ role: 'system', content: 'Greet.' }, ...ctx.messages.slice(1)];
      return ctx.next();
    });
  }`,
});
const priced = `currency: USD
models:
  - { provider: anthropic, model: ${anthropicCase.model}, input: 1000, output: 2000, cacheRead: 100, cacheWrite: 3000, source: invented, date: 2026-11-17 }
`;

// Only in the proof: the pages and the API behind them have unit tests.
const describeInProof = sampleStep === 1 ? describe.skipIf(!hasChromium) : () => undefined;

describeInProof('Studio with a provider', () => {
  const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  let server: WireServer;
  let studio: StudioPlace;
  let page: Page;
  /** The tokens of each request, as the server counted them. */
  const tokens: Tokens[] = [];
  const isClerk = (_: Tokens, at: number) => at === 1;
  const isDesk = (each: Tokens, at: number) => !isClerk(each, at);

  beforeAll(async () => {
    const cache = new AnthropicCache(1);
    server = startWireServer(anthropicCase.dialect, (body) => {
      const usage = { output: 7, written: 0, ...cache.count(body) };
      tokens.push(usage);
      return usage;
    });
    studio = new StudioPlace(browser);
    await studio.place.write('hotel', counted(server.url));
    await studio.place.write('.', { 'prices.yaml': priced });
    await studio.place.serve('hotel');
    await studio.openStudio('hotel', '--prices', 'prices.yaml');
    page = await studio.openPage();
  });
  afterAll(async () => {
    expect(await studio.close('hotel')).toEqual([]);
    await server[Symbol.asyncDispose]();
  });

  const usage = { input: 0, output: 7, cached: 0 };
  const said = (text: string) => ({ reply: { usage, text: [text] } });
  const ask = { id: 'call', name: 'agents__request', args: { target: 'clerk', input: 'Which city?' } };

  test('Y-02 one byte above the limit shows the code and stays; an image is sent, and is a picture in the conversation', async () => {
    server.answer({ reply: { usage, calls: [ask] } }, said('{"city":"Seoul"}'), said('It is Seoul.'));
    await page.locator('.composer textarea').fill('Which city is this?');
    const chosen = page.locator('.composer .chosen li');
    const choose = (name: string, mimeType: string, buffer: Buffer) =>
      page.getByLabel('Files to send').setInputFiles({ name, mimeType, buffer });
    await choose('long.txt', 'text/plain', Buffer.alloc(1_001, 'a'));
    await chosen.filter({ hasText: 'long.txt, 1001 B' }).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').locator('.problem-code', { hasText: 'E_FILE_SIZE' }).waitFor();
    expect(await page.locator('.composer textarea').inputValue()).toBe('Which city is this?');
    expect(server.requests).toEqual([]);

    await page.getByRole('button', { name: 'Remove long.txt' }).click();
    await choose('city.png', 'image/png', Buffer.from(picture, 'base64'));
    await chosen.filter({ hasText: 'city.png, 70 B' }).waitFor();
    await page.getByRole('button', { name: 'Send' }).click();
    const turn = page.locator('.turn:not(.is-live):not(.is-pending)', { hasText: 'It is Seoul.' });
    const shown = turn.locator('.is-user img.picture');
    await shown.waitFor();
    expect(await shown.getAttribute('alt')).toBe('city.png, 70 B');
    // The browser could read it.
    await shown.evaluate((image: HTMLImageElement) => image.decode());
    expect(JSON.stringify(server.requests[0]?.body)).toContain(picture);
    expect(await chosen.count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('Y-03 a turn shows its own tokens and those of called agents, as the server counted them', async () => {
    const text = (some: readonly Tokens[], unit = '') => {
      const { input, output, cached, written } = sumOf(some);
      const cache = [...(cached > 0 ? [`${cached} from the cache`] : []), `${written} to the cache`];
      return `${input} → ${output}${unit} (${cache.join(', ')})`;
    };
    // The second call of the desk read the prompt that its first call had written.
    expect(tokens.map(({ cached }) => cached > 0)).toEqual([false, false, true]);
    const head = await page.locator('.turn-head', { hasText: 'tokens' }).textContent();
    expect(head).toContain(
      `${text(tokens, ' tokens')}: own ${text(tokens.filter(isDesk))}, called agents ${text(tokens.filter(isClerk))}`,
    );
  });

  test('Y-03 the overview shows the tokens of each agent with their cost, and names a model without a price', async () => {
    await studio.gdn('send', '--bundle', 'hotel', '--agent', 'porter', '--input', 'Are you there?', '--wait');
    await page.getByRole('link', { name: 'Overview' }).click();
    const row = (name: string) => page.locator('.usage tbody tr', { hasText: name });
    const costOf = ({ input, output, cached, written }: Tokens) =>
      ((input - cached - written) * 1_000 + cached * 100 + written * 3_000 + output * 2_000) / 1_000_000;
    const cellsOf = (name: string, some: readonly Tokens[]) => {
      const { input, output, cached, written } = sumOf(some);
      const counts = [some.length, input, output, cached, written].map(String);
      return [name, ...counts, `${costOf(sumOf(some)).toFixed(4)} USD`];
    };
    await row('porter').getByText('1 unpriced').waitFor();
    expect(await row('desk').locator('td').allTextContents()).toEqual(cellsOf('desk', tokens.filter(isDesk)));
    expect(await row('clerk').locator('td').allTextContents()).toEqual(cellsOf('clerk', tokens.filter(isClerk)));
    const total = await row('total').locator('td').last().textContent();
    expect(total).toBe(`${costOf(sumOf(tokens)).toFixed(4)} USD + 1 unpriced`);
    await page.getByText('The price file does not have scripted/script.').waitFor();
    await page.getByRole('combobox', { name: 'By' }).selectOption('model');
    await row(`anthropic/${anthropicCase.model}`).waitFor();
  });

  test('Y-01 an answer that fits a schema is JSON, and the prompt of its call names the schema and equals the body', async () => {
    await page.locator('.conversations section', { hasText: 'clerk' }).getByRole('link').click();
    const turn = page.locator('.turn', { hasText: 'Which city?' });
    await turn.locator('pre.code[data-language=json]').waitFor();
    expect(JSON.parse((await turn.locator('pre.code').textContent()) ?? '')).toEqual({ city: 'Seoul' });
    await turn.getByRole('button', { name: 'Onion' }).click();
    await page.getByRole('treeitem', { name: /^model Model\/claude/ }).click();
    const model = page.getByRole('region', { name: 'What Model/claude did' });
    await model.locator('summary', { hasText: 'Prompt' }).click();
    await model.getByText('Exact: the body below is the one that @ai-sdk/anthropic').waitFor();
    expect(await model.locator('h4').allTextContents()).toContain('schema of the answer · agent clerk');
    await model.locator('summary', { hasText: 'Body' }).click();
    const body = await model.locator('.prompt-body pre').textContent();
    expect(JSON.parse(body ?? '')).toEqual(server.requests[1]?.body);
    await page.keyboard.press('Escape');
  });

  test('Y-05 a call whose cached prefix was lost says which layer lost it', async () => {
    server.answer(said('Fine.'));
    for (const input of ['Second', 'Third']) await studio.gdn('send', '--bundle', 'hotel', '--input', input, '--wait');
    await page.locator('.conversations section', { hasText: 'desk' }).getByRole('link').click();
    await page.locator('.turn:not(.is-live)', { hasText: 'Third' }).getByRole('button', { name: 'Onion' }).click();
    await page.getByRole('treeitem', { name: /^model Model\/claude, cache lost/ }).click();
    const model = page.getByRole('region', { name: 'What Model/claude did' });
    await model.getByText('cache lost at the system prompt: `greeter` replaced it').waitFor();
  });

  test('a failed turn shows its error and the origin first, and the sidebar lists only failures on request', async () => {
    const { exitCode } = await studio.place.run(
      ...['send', '--bundle', 'hotel', '--agent', 'porter', '--input', 'fail', '--wait'],
    );
    expect(exitCode).not.toBe(0);
    await page.getByRole('button', { name: '1 failed' }).click();
    await page.waitForURL(/failed=1/);
    const links = page.locator('.conversations').getByRole('link');
    for (const when of ['now', 'after a reload']) {
      await page.getByRole('button', { name: '1 failed', pressed: true }).waitFor();
      expect([when, await links.allTextContents()]).toEqual([when, [expect.stringMatching(/^porterfailed/)]]);
      await page.reload();
    }
    await links.click();
    await page.locator('.turn-head + .problem', { hasText: 'No.' }).waitFor();
    await page.locator('.turn', { hasText: 'No.' }).getByRole('button', { name: 'Onion' }).click();
    await page.getByRole('region', { name: 'What Model/script did' }).waitFor();
    expect(await page.locator('.has-failed > .band-head .band-title').allTextContents()).toEqual(['Model/script']);
    await page.getByRole('treeitem', { name: 'step 1, passed it on' }).waitFor();
  });

  test('and the browser reported only the refusal of the long file', () => {
    expect(studio.complaints).toEqual([expect.stringContaining('413')]);
  });
});

async function send(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.insertText(text);
  await page.keyboard.press('Enter');
}

async function expectCount(page: Page, count: number): Promise<void> {
  await page.waitForFunction((wanted) => document.querySelectorAll('.messages .message').length === wanted, count);
}

interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly written: number;
}

function sumOf(some: readonly Tokens[]): Tokens {
  const sum = (name: keyof Tokens) => some.reduce((all, each) => all + each[name], 0);
  return { input: sum('input'), output: sum('output'), cached: sum('cached'), written: sum('written') };
}

/** Waits until the element is completely visible inside the message list. */
async function waitUntilSeen(page: Page, selector: string): Promise<void> {
  await page.waitForFunction((wanted) => {
    const [box, shown] = ['.messages', wanted].map((each) => document.querySelector(each)?.getBoundingClientRect());
    return box !== undefined && shown !== undefined && shown.top >= box.top && shown.bottom <= box.bottom;
  }, selector);
}

/** Runs in the browser: records the length of the text at each change. */
function noteWhatIsWritten(): void {
  const written: number[] = [];
  Object.assign(window, { written });
  new MutationObserver(() => {
    const length = document.querySelector('.is-streaming')?.textContent?.length;
    if (length !== undefined && length !== written.at(-1)) written.push(length);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}
