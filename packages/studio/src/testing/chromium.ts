/** A real browser for tests: Debian's chromium, which `.ci/run` installs. */
import { type Browser, chromium } from 'playwright-core';
import { hasPart } from '../../../../test/parts.ts';

const executable = Bun.which('chromium');

/** False where chromium is not installed. Tests that need chromium are then skipped. */
export const hasChromium = hasPart('chromium', executable !== null);

export function openChromium(): Promise<Browser> {
  // The sandbox of Chromium does not work for root, nor in most containers.
  return chromium.launch({ ...(executable === null ? {} : { executablePath: executable }), args: ['--no-sandbox'] });
}
