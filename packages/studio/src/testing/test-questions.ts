/**
 * Tests Studio's questions in a browser. They are a part of `studio.browser.test.ts`, so that they share its browser and its
 * Studio.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { QuestionSummary } from '@goondan/runtime';
import type { Locator, Page } from 'playwright-core';
import { testInProof } from '../../../../test/samples.ts';
import { personName } from '../../../cli/src/question/person-name.ts';
import { fakeQuestion } from '../../../runtime/src/testing/fake-control.ts';
import { type AskedSwarm, serveAskedSwarm } from './asked-swarm.ts';
import type { StudioPlace } from './studio-place.ts';

/** Call this function in a `describe` whose Studio runs. `opened` returns the Studio and its page. */
export function testQuestions(opened: () => { readonly studio: StudioPlace; readonly page: Page }): void {
  describe('questions', () => {
    let swarm: AskedSwarm;
    let page: Page;
    beforeAll(async () => {
      const { studio } = opened();
      ({ page } = opened());
      swarm = await serveAskedSwarm(studio.place.stateRoot, 'asked');
      await page.evaluate(() => (location.hash = '#/asked'));
      await page.getByRole('heading', { name: 'Latest turns' }).waitFor();
    });
    afterAll(async () => {
      await swarm.close();
    });

    const person = { by: personName(), via: 'studio' };
    const cardOf = (name: string | RegExp): Locator => page.getByRole('region', { name });
    const closed = (card: Locator) => card.waitFor({ state: 'detached' });
    const button = (card: Locator, name: string) => card.getByRole('button', { name, exact: true });
    const input = (properties: object, required: readonly string[] = []): Pick<QuestionSummary, 'schema'> => ({
      schema: { type: 'object', properties, required: [...required], additionalProperties: false } as NonNullable<
        QuestionSummary['schema']
      >,
    });

    test('a call says who asks; hostile texts are only texts; a denial has the reason, the digest and the person', async () => {
      const attack = '<img src=x onerror="document.title=1">\u202e\u0007';
      swarm.ask({
        id: 'call-1',
        toolName: 'bash__exec',
        askedBy: { extension: 'approval', server: `files${attack}` },
        reason: `Because ${attack}`,
        args: { command: attack },
      });
      const card = cardOf('bash__exec waits for you');
      await card.waitFor();
      const text = await card.textContent();
      expect(text).toContain('helper wants to run bash__exec');
      expect(text).toContain(
        'asked by server files<img src=x onerror="document.title=1">\\u202e\\u0007, extension approval',
      );
      expect(text).toContain('Because <img src=x onerror="document.title=1">\\u202e\\u0007');
      expect(text).toContain('"command": "<img src=x onerror=\\"document.title=1\\">\\u202e\\u0007"');
      expect(await card.locator('img').count()).toBe(0);
      await card.getByRole('textbox', { name: 'Why not, for the agent to read' }).fill('Not today.');
      await button(card, 'Deny').click();
      await closed(card);
      const { digest } = fakeQuestion;
      expect(swarm.answers.at(-1)).toEqual({ id: 'call-1', digest, decision: 'denied', note: 'Not today.', ...person });
    });

    test('edited arguments: the mistake is beside the editor, the difference is shown, and then they are sent', async () => {
      const args = { city: 'Lisbon\u200b', days: 3 };
      swarm.ask({
        id: 'call-2',
        toolName: 'picnic__book',
        args,
        ...input({ city: { type: 'string' }, days: { type: 'integer' } }, ['city']),
      });
      const card = cardOf('picnic__book waits for you');
      await button(card, 'Edit').click();
      const editor = card.getByRole('textbox', { name: 'Arguments, as JSON' });
      expect(await editor.evaluate((box) => box === document.activeElement)).toBe(true);
      expect(await editor.inputValue()).toBe('{\n  "city": "Lisbon\\u200b",\n  "days": 3\n}');
      const tryOut = async (text: string) => {
        await editor.fill(text);
        await button(card, 'Show the difference').click();
      };
      const alert = card.getByRole('alert');
      await tryOut('{ "city": }');
      await alert.getByText('This is not JSON').waitFor();
      await tryOut('{ "city": "Porto", "days": "3" }');
      await alert.getByText('E_QUESTION_REPLY').waitFor();
      expect(await alert.textContent()).toContain('days');
      expect(await editor.getAttribute('aria-invalid')).toBe('true');
      expect(await editor.inputValue()).toBe('{ "city": "Porto", "days": "3" }');
      // Nothing can be approved before the difference is shown.
      expect(await button(card, 'Approve').count()).toBe(0);
      await tryOut('{ "city": "Porto", "days": 3 }');
      await card.getByRole('group', { name: 'Your changes' }).waitFor();
      expect(await card.locator('.diff-removed').allTextContents()).toEqual(['-  "city": "Lisbon\\u200b",\n']);
      expect(await card.locator('.diff-added').allTextContents()).toEqual(['+  "city": "Porto",\n']);
      const sent = swarm.answers.length;
      await button(card, 'Approve').click();
      await closed(card);
      expect(swarm.answers.slice(sent)).toEqual([
        {
          id: 'call-2',
          digest: fakeQuestion.digest,
          decision: 'approved',
          args: { city: 'Porto', days: 3 },
          ...person,
        },
      ]);
    });

    test('always says exactly what it covers, is listed, and is revoked', async () => {
      for (const [id, always, cover] of [
        ['call-3', 'tool', 'every call of bash__exec, with any arguments'],
        ['call-4', 'arguments', 'every call of bash__exec with exactly these arguments'],
        ['call-5', 'host', 'every call of bash__exec to https://example.com, with any other arguments'],
      ] as const) {
        const host = 'https://example.com';
        swarm.ask({ id, ...(always === 'host' && { args: { url: `${host}/a` } }) });
        const card = cardOf('bash__exec waits for you');
        const choice = card.getByRole('combobox', { name: 'The approval is for' });
        await choice.selectOption(always);
        expect(await choice.getByRole('option').count()).toBe(always === 'host' ? 4 : 3);
        const says = await card.getByRole('status').textContent();
        expect(says).toBe(
          `Always, in this conversation of helper (default), without a question: ${cover}. A changed tool asks again.`,
        );
        const { id: _, agent, instanceKey, toolName, reason, askedAt: decidedAt } = fakeQuestion;
        swarm.grant({ id, agent, instanceKey, toolName, always, reason, decidedAt, ...person, host });
        await button(card, 'Approve').click();
        await closed(card);
        expect(swarm.answers.at(-1)).toMatchObject({ id, decision: 'approved', always });
      }
      const list = page.locator('.grants');
      await list.locator('summary', { hasText: 'Always allowed: 3' }).click();
      const item = list.getByRole('listitem').filter({ hasText: 'with any arguments' });
      expect(await item.textContent()).toContain(`by ${person.by} via studio`);
      await item.getByRole('button', { name: 'Revoke bash__exec' }).click();
      await closed(item);
      expect(swarm.revoked).toEqual([{ id: 'call-3', ...person }]);
    });

    test('a form is filled with the keyboard; what is required is asked for, and each value has its type', async () => {
      swarm.ask({
        id: 'form-1',
        kind: 'form',
        args: {},
        reason: 'Where shall I book?\nIt is for Friday.',
        askedBy: { server: 'travel' },
        ...input(
          {
            name: { type: 'string', title: 'Your <b>name</b>\u202e', description: 'As on the card.', maxLength: 20 },
            // A control with one of these names would hide what the form has under it.
            nodeName: { type: 'string', format: 'email' },
            seat: {
              type: 'string',
              oneOf: [
                { const: 'w', title: 'Window' },
                { const: 'a', title: 'Aisle' },
              ],
            },
            extras: { type: 'array', items: { type: 'string', enum: ['bag', 'meal', 'wifi'] }, default: ['meal'] },
            guests: { type: 'integer', minimum: 1, maximum: 9, default: 2 },
            sure: { type: 'boolean' },
            requestSubmit: { type: 'number' },
          },
          ['name', 'sure'],
        ),
      });
      const card = cardOf('A question waits for you');
      await card.waitFor();
      await page.keyboard.press('a');
      const first = card.getByRole('textbox', { name: 'Your <b>name</b>\\u202e required' });
      expect(await first.evaluate((box) => box === document.activeElement)).toBe(true);
      expect(
        await first.evaluate((box) => document.getElementById(box.getAttribute('aria-describedby') ?? '')?.textContent),
      ).toBe('As on the card.');
      // The browser keeps a form without the required fields.
      await page.keyboard.press('Enter');
      expect(await first.evaluate((box) => box.matches(':invalid'))).toBe(true);
      expect(swarm.answers.some(({ id }) => id === 'form-1')).toBe(false);
      await page.keyboard.insertText('Ada');
      await page.keyboard.press('Tab');
      await page.keyboard.insertText('ada@example.com');
      await page.keyboard.press('Tab');
      await page.keyboard.type('Ai');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      await card.getByRole('spinbutton', { name: 'guests' }).fill('10');
      await card.getByRole('group', { name: 'sure required' }).getByRole('radio', { name: 'No' }).check();
      await button(card, 'Answer').click();
      expect(await card.getByRole('spinbutton', { name: 'guests' }).evaluate((box) => box.matches(':invalid'))).toBe(
        true,
      );
      await card.getByRole('spinbutton', { name: 'guests' }).fill('3');
      await button(card, 'Answer').click();
      await closed(card);
      const content = {
        name: 'Ada',
        nodeName: 'ada@example.com',
        seat: 'a',
        extras: ['bag', 'meal'],
        guests: 3,
        sure: false,
      };
      const { digest } = fakeQuestion;
      expect(swarm.answers.at(-1)).toEqual({ id: 'form-1', digest, decision: 'approved', content, ...person });
    });

    test('a form is declined without a field', async () => {
      swarm.ask({ id: 'form-2', kind: 'form', args: {}, ...input({ name: { type: 'string' } }, ['name']) });
      const card = cardOf('A question waits for you');
      await button(card, 'Decline').click();
      await closed(card);
      expect(swarm.answers.at(-1)).toMatchObject({ id: 'form-2', decision: 'denied' });
    });

    test('Enter after the reason of a no does not send the form', async () => {
      swarm.ask({ id: 'form-3', kind: 'form', args: {}, ...input({ name: { type: 'string' } }) });
      const card = cardOf('A question waits for you');
      const reason = card.getByRole('textbox', { name: /Why not/ });
      await reason.fill('Not today.');
      await reason.press('Enter');
      await button(card, 'Decline').click();
      await closed(card);
      const decline = { decision: 'denied', note: 'Not today.' };
      expect(swarm.answers.filter(({ id }) => id === 'form-3')).toMatchObject([decline]);
    });

    test('a page is opened in a new tab that cannot reach this one, with its server and its host shown', async () => {
      const { host, origin } = new URL(page.url());
      swarm.ask({ id: 'page-1', kind: 'page', args: {}, url: `${origin}/sign-in?a=b`, askedBy: { server: 'github' } });
      const card = cardOf('A page to open waits for you');
      const link = card.getByRole('link', { name: `Open the page of ${host}` });
      expect(await card.textContent()).toContain('asked by server github');
      expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
      const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
      expect(await tab.evaluate(() => window.opener as unknown)).toBeNull();
      expect(tab.url()).toBe(`${origin}/sign-in?a=b`);
      await tab.close();
      await button(card, 'I am done').click();
      await closed(card);
      expect(swarm.answers.at(-1)).toMatchObject({ id: 'page-1', decision: 'approved' });
    });

    test('N-04 a late answer and an answer to a changed question are refused: the card says why, and closes', async () => {
      swarm.ask({ id: 'late' });
      const card = cardOf('bash__exec waits for you');
      await card.waitFor();
      swarm.answerElsewhere('late', 'bob');
      await button(card, 'Approve').click();
      await card.getByRole('alert').getByText('E_QUESTION_ENDED').waitFor();
      expect(await card.getByRole('alert').textContent()).toContain('answered by bob already');
      expect(await button(card, 'Approve').getAttribute('aria-disabled')).toBe('true');
      swarm.forget('late');
      await button(card, 'Close').click();
      await closed(card);

      swarm.ask({ id: 'changed' });
      await card.waitFor();
      swarm.change('changed', { args: { command: 'rm -rf /' }, digest: 'e'.repeat(64) });
      await button(card, 'Approve').click();
      await card.getByRole('alert').getByText('E_QUESTION_CHANGED').waitFor();
      swarm.tell();
      // The other question has a card of its own.
      const other = card.filter({ hasText: 'rm -rf /' });
      await other.waitFor();
      expect(await other.getByRole('alert').count()).toBe(0);
      await button(card.filter({ hasText: 'E_QUESTION_CHANGED' }), 'Close').click();
      await button(other, 'Deny').click();
      await closed(other);
      expect(swarm.answers.at(-1)).toMatchObject({ id: 'changed', digest: 'e'.repeat(64), decision: 'denied' });
    });

    test('N-04 a question that somebody else answers while a person writes stays until the person has seen it', async () => {
      swarm.ask({ id: 'slow' });
      const card = cardOf('bash__exec waits for you');
      await card.getByRole('textbox', { name: /Why not/ }).fill('Because');
      swarm.forget('slow');
      await card.getByText('This question is no longer open').waitFor();
      await button(card, 'Close').click();
      await closed(card);
    });

    test('and the browser reported only the refused answers', () => {
      const { complaints } = opened().studio;
      expect(complaints.splice(0)).toEqual([
        expect.stringContaining('400'),
        expect.stringContaining('409'),
        expect.stringContaining('409'),
      ]);
    });
  });
}

/** Tests answers in the conversation of the demo. Call this function in a `describe` whose Studio shows it. */
export function testAnswers(opened: () => { readonly studio: StudioPlace; readonly page: Page }): void {
  const send = async (page: Page, text: string) => {
    await page.locator('.composer textarea').fill(text);
    await page.locator('.composer textarea').press('Enter');
  };
  const ended = (page: Page, text: string) => page.locator('.turn:not(.is-live):not(.is-pending)', { hasText: text });
  const who = `${personName()} via studio`;

  test('an edited call runs with the edited arguments; the onion and the log name the person and the door', async () => {
    const { page, studio } = opened();
    await send(page, 'Book a picnic in Oslo');
    const card = page.getByRole('region', { name: 'picnic__book waits for you' });
    await card.getByRole('button', { name: 'Edit' }).click();
    await card.getByRole('textbox', { name: 'Arguments, as JSON' }).fill('{ "city": "Bergen" }');
    await card.getByRole('button', { name: 'Show the difference' }).click();
    await card.getByRole('button', { name: 'Approve' }).click();
    const turn = ended(page, 'Book a picnic in Oslo');
    await turn.locator('.tool .badge', { hasText: `changed by ${personName()}` }).waitFor();
    expect(await turn.textContent()).toContain('Bergen');
    await turn.getByRole('button', { name: 'Onion' }).click();
    await page
      .getByRole('treeitem', { name: /^approval/ })
      .last()
      .click();
    const details = page.getByRole('region', { name: /^What approval/ });
    await details.getByRole('heading', { name: `Changed by ${who}` }).waitFor();
    expect(await details.textContent()).toContain(`approved by ${who} with other arguments`);
    expect(await details.locator('.is-removed').first().textContent()).toContain('Oslo');
    expect(await details.locator('.is-added').first().textContent()).toContain('Bergen');
    await page.keyboard.press('Escape');
    expect(await studio.gdn('logs', '--bundle', 'swarm')).toContain(`approved by ${who}.`);
  });

  // The card and the list are tested above, and the grants themselves in test/approval.
  testInProof(
    'a tool that is always allowed runs without a question, and asks again when that is revoked',
    async () => {
      const { page } = opened();
      await send(page, 'Book a picnic in Rome');
      const card = page.getByRole('region', { name: 'picnic__book waits for you' });
      await card.getByRole('combobox', { name: 'The approval is for' }).selectOption('tool');
      await card.getByRole('button', { name: 'Approve' }).click();
      await ended(page, 'Book a picnic in Rome').getByText('is booked').first().waitFor();
      await send(page, 'Book a picnic in Quito');
      await ended(page, 'Book a picnic in Quito').getByText('is booked').first().waitFor();
      const list = page.locator('.grants');
      await list.locator('summary').click();
      expect(await list.textContent()).toContain(`every call of picnic__book, with any arguments`);
      expect(await list.textContent()).toContain(`by ${who}`);
      await list.getByRole('button', { name: 'Revoke picnic__book' }).click();
      await list.waitFor({ state: 'detached' });
      await send(page, 'Book a picnic in Paris');
      await card.getByRole('button', { name: 'Deny' }).click();
      await ended(page, 'Book a picnic in Paris').waitFor();
    },
  );
}
