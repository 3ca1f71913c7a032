/** A real browser for tests: Debian's chromium, which `.ci/run` installs. */
import { type Browser, chromium } from 'playwright-core';

const executable = Bun.which('chromium');

/** Why tests that need it are skipped, where it is not installed. */
export const hasChromium = executable !== null;
if (!hasChromium) console.warn('chromium is not installed: the tests of Studio in a real browser are skipped.');

export function openChromium(): Promise<Browser> {
  // As root, and in most containers, it has no sandbox of its own.
  return chromium.launch({ ...(executable === null ? {} : { executablePath: executable }), args: ['--no-sandbox'] });
}
