/** For tests: a place that is removed after each test, and how commands in it ended. */
import { afterEach, expect, setDefaultTimeout } from 'bun:test';
import { type Ended, GdnPlace } from './gdn-place.ts';

/**
 * Opens a place that is removed after each test, or after all tests with `afterAll`. The timeout of the tests is long,
 * because processes start one after the other and the machine may be busy.
 */
export function openPlace(after: typeof afterEach = afterEach): GdnPlace {
  setDefaultTimeout(120_000);
  const place = new GdnPlace();
  after(async () => expect(await place.remove()).toEqual([]));
  return place;
}

/** Runs commands about the bundle `bundle`, typed in one line. `json` expects success, and reads the output. */
export function commandsAbout(place: GdnPlace) {
  const gdn = (line: string, ...more: string[]) => place.run(...line.split(' '), ...more, '--bundle', 'bundle');
  return { gdn, json: async (line: string) => JSON.parse(outputOf(await gdn(line))) };
}

/** Expects success without a warning, and returns the output. */
export function outputOf({ stdout, stderr, exitCode }: Ended): string {
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  return stdout;
}

/** Matches a command that printed only an error, which begins with this text. */
export function refusal(exitCode: number, beginning: string | RegExp): Ended {
  const pattern = typeof beginning === 'string' ? new RegExp(`^${escapePattern(beginning)}`) : beginning;
  return { stdout: '', stderr: expect.stringMatching(pattern), exitCode };
}

export function escapePattern(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&');
}
