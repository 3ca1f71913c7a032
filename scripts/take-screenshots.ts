/**
 * `npm run write -- screenshots`: takes the pictures of Studio in `docs/images` from the demo swarm in a real browser. It needs
 * chromium. If the fonts Inter, JetBrains Mono and Noto Emoji are installed (npm has them as `@expo-google-fonts/*`), the
 * pictures look like those in the repository.
 */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openChromium } from '../packages/studio/src/testing/chromium.ts';
import { StudioPlace } from '../packages/studio/src/testing/studio-place.ts';

const folder = join(import.meta.dir, '..', 'docs', 'images');
const browser = await openChromium();
const studio = new StudioPlace(browser);
try {
  await studio.runDemo();
  await studio.openStudio('swarm');
  const page = await studio.openPage();
  await say(page, 'What is the weather in Seoul for the next 30 days?', 'Seoul, the next 3 days');
  await say(page, 'What is the weather in Lisbon?', 'Lisbon, tomorrow');
  await say(page, 'Book a picnic in Lisbon');
  await page.locator('.question').waitFor();
  await take(page, 'studio-approval');

  await page.getByRole('button', { name: 'Approve' }).click();
  await page.locator('.turn:not(.is-live)', { hasText: 'is booked' }).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.turn', { hasText: 'Seoul, the next' }).getByRole('button', { name: 'Onion' }).click();
  await page
    .getByRole('treeitem', { name: /^read-only/ })
    .first()
    .click();
  await take(page, 'studio-onion');

  await page.getByRole('tab', { name: 'Events' }).click();
  await page.getByRole('slider').fill('10');
  await page.getByText('after #10').waitFor();
  await page.locator('.is-chosen > .event').waitFor();
  await take(page, 'studio-past');
} finally {
  await studio.close();
  await browser.close();
}

async function say(page: Page, text: string, answer?: string): Promise<void> {
  await page.locator('.composer textarea').fill(text);
  await page.keyboard.press('Enter');
  if (answer !== undefined) await page.locator('.turn:not(.is-live)', { hasText: answer }).waitFor();
}

/** Takes two pictures, one in the light theme and one in the dark theme. */
async function take(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // This waits until animations have ended.
    await page.waitForTimeout(600);
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
  }
}
