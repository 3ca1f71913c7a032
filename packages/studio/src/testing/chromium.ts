/** A real browser for tests: Debian's chromium, which `.ci/run` installs. */
import { type Browser, chromium } from 'playwright-core';
import { hasPart } from '../../../../test/parts.ts';

const executable = Bun.which('chromium');

/** False where chromium is not installed. Tests that need chromium are then skipped. */
export const hasChromium = hasPart('chromium', executable !== null);

/**
 * Parts of Chromium that no test needs. The first three cost a second of processor time for each window: Chromium
 * loads its address bar as hidden pages, and starts a renderer in advance. Chromium reads only the last of two such
 * lists, so the others are repeated from Playwright: they keep Chromium from requests of its own, and from delays.
 */
const unneeded = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'SpareRendererForSitePerProcess',
  'AimEnabled',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
];

export function openChromium(): Promise<Browser> {
  // The sandbox of Chromium does not work for root, nor in most containers. All windows show the same site, so they
  // can share a renderer, as they do in the browser of a person with many windows.
  const args = ['--no-sandbox', '--renderer-process-limit=1', `--disable-features=${unneeded.join(',')}`];
  return chromium.launch({ ...(executable === null ? {} : { executablePath: executable }), args });
}
